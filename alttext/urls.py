"""One line per view and API route."""

from django.urls import path

app_name = "alttext"
urlpatterns: list = []
