"""One line per view and API route."""


app_name = "alttext"
urlpatterns: list = []
