"""Routes of the runnable site: the workbench under a prefix, the demonstration pages last."""

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import views as auth_views
from django.urls import include, path, re_path
from django.views.static import serve

from alttext.project.demo.views import DemoLoginView

urlpatterns = [
    path("admin/", admin.site.urls),
    path("accounts/login/", DemoLoginView.as_view(), name="login"),
    path("accounts/logout/", auth_views.LogoutView.as_view(), name="logout"),
    path("alttext/", include("alttext.urls")),
    re_path(r"^media/(?P<path>.*)$", serve, {"document_root": settings.MEDIA_ROOT}),
    path("", include("alttext.project.demo.urls")),
]
