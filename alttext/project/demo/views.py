"""The public pages and the sign-in page that tells the demonstration accounts."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render

from alttext.contrib.imagefields import entries
from alttext.project.demo import accounts
from alttext.project.demo.models import Article


def home(request: HttpRequest) -> HttpResponse:
    """All pages with their summaries."""
    return render(request, "demo/home.html", {"articles": Article.objects.all()})


def article(request: HttpRequest, slug: str) -> HttpResponse:
    """One page. Each section knows the key of its picture, for the editors' link to the workbench."""
    found = get_object_or_404(Article, slug=slug)
    sections = [
        {"illustration": row, "keys": entries.keys_of(row)} for row in found.illustrations.select_related("article")
    ]
    return render(request, "demo/article.html", {"article": found, "sections": sections, "adapter": entries.NAME})


class DemoLoginView(LoginView):
    """Names the accounts of the demonstration where the site is one."""

    template_name = "demo/login.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context = super().get_context_data(**kwargs)
        return context | {"demo_logins": accounts.ACCOUNTS if settings.DEMO_LOGINS else ()}
