"""Routes of the demonstration pages."""

from django.urls import path

from alttext.project.demo import views

app_name = "demo"
urlpatterns = [
    path("", views.home, name="home"),
    path("pages/<slug:slug>/", views.article, name="article"),
]
