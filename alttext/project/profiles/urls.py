"""Routes of the example sites: admin and workbench first, Wagtail under prefixes, django CMS last."""

from django.apps import apps
from django.conf import settings
from django.conf.urls.i18n import i18n_patterns
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
    path("demo/", include("alttext.project.demo.urls")),
]
if apps.is_installed("wagtail"):
    urlpatterns.append(path("cms/", include("wagtail.admin.urls")))
    urlpatterns.append(path("documents/", include("wagtail.documents.urls")))
    if apps.is_installed("cms"):
        urlpatterns.append(path("site/", include("wagtail.urls")))
    else:
        urlpatterns += i18n_patterns(path("", include("wagtail.urls")), prefix_default_language=False)
if apps.is_installed("cms"):
    urlpatterns.append(path("filer/", include("filer.urls")))
    urlpatterns += i18n_patterns(path("", include("cms.urls")))
