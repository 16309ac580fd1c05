"""The dashboard for leads: what authors did with suggestions, as a page and as CSV. Works without scripts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from alttext import conf, exports, permissions, reports
from alttext.models import CaptionerVersion
from alttext.views.respond import respond
from alttext.views.security import workbench

PERIODS = {"28": "Last 28 days", "90": "Last 90 days", "365": "Last 365 days", "all": "All time"}
PAGE = "alttext/dashboards.html"


class Selection(forms.Form):
    """Which suggestions the page is about. Everything left out means the first choice."""

    period = forms.ChoiceField(label="Suggested in", choices=list(PERIODS.items()), required=False)
    version = forms.ChoiceField(label="Captioner", required=False)
    language = forms.ChoiceField(label="Language", required=False)

    def __init__(self, data: Any) -> None:
        super().__init__(data, auto_id="dashboard-%s", label_suffix="")
        self.versions = {str(version.pk): version for version in reports.captioner_versions()}
        self._offer("version", "All captioners", [(pk, str(version)) for pk, version in self.versions.items()])
        self._offer("language", "All languages", [(name, name) for name in reports.languages()])
        for name in self.errors:
            self.fields[name].widget.attrs |= {"aria-invalid": "true", "aria-describedby": f"dashboard-{name}-error"}

    def _offer(self, name: str, everything: str, choices: list[tuple[str, str]]) -> None:
        field = self.fields[name]
        assert isinstance(field, forms.ChoiceField)
        field.choices = [("", everything), *choices]

    def cohort(self, at: datetime) -> reports.Cohort:
        """The chosen suggestions, looked at at the time `at`."""
        period = self.cleaned_data["period"] or "28"
        return reports.Cohort(
            since=None if period == "all" else at - timedelta(days=int(period)),
            until=at,
            captioner_version=self.versions.get(self.cleaned_data["version"]),
            language=self.cleaned_data["language"],
        )

    def captioners(self) -> list[CaptionerVersion]:
        """The chosen captioner, or all, the latest first."""
        chosen = self.versions.get(self.cleaned_data["version"])
        return [chosen] if chosen else list(self.versions.values())

    def in_words(self) -> str:
        """What was chosen, for the heading of the figures."""
        version = self.versions.get(self.cleaned_data["version"])
        language = self.cleaned_data["language"]
        chosen = [
            PERIODS[self.cleaned_data["period"] or "28"],
            str(version) if version else "all captioners",
            f"pages in “{language}”" if language else "all languages",
        ]
        return ", ".join(chosen)


@workbench
@require_safe
def show(request: HttpRequest) -> HttpResponse:
    """The figures of the chosen suggestions, all authors together."""
    if not permissions.may_see_dashboards(request.user):
        return respond(request, PAGE, {"refused": True}, status=403)
    form = Selection(request.GET)
    if not form.is_valid():
        return respond(request, PAGE, {"form": form}, status=422)
    return respond(request, PAGE, _context(request, form, _overview(request, form.cohort(timezone.now()))))


@workbench
@require_safe
def edits_csv(request: HttpRequest) -> HttpResponseBase:
    """The kept texts of the chosen suggestions, one row each; who wrote them only as a key, and only from few authors
    up: see `exports.edit_rows`.
    """
    if not permissions.may_see_dashboards(request.user):
        return respond(request, PAGE, {"refused": True}, status=403)
    form = Selection(request.GET)
    if not form.is_valid():
        return respond(request, PAGE, {"form": form}, status=422)
    cohort = form.cohort(timezone.now())
    overview = _overview(request, cohort)
    if overview.acts is None:
        return respond(request, PAGE, _context(request, form, overview), status=403)
    enough = overview.authors >= overview.min_authors
    rows = exports.edit_rows(
        reports.edit_records(user=request.user, cohort=cohort), key=exports.author_secret() if enough else None
    )
    return StreamingHttpResponse(
        exports.csv_lines(exports.EDIT_COLUMNS, rows),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": 'attachment; filename="alttext-edits.csv"',
            "X-Content-Type-Options": "nosniff",
        },
    )


def _overview(request: HttpRequest, cohort: reports.Cohort) -> reports.Overview:
    return reports.overview(
        user=request.user,
        since=cohort.since,
        until=cohort.until,
        captioner_version=cohort.captioner_version,
        language=cohort.language,
    )


def _context(request: HttpRequest, form: Selection, overview: reports.Overview) -> dict[str, Any]:
    return {
        "form": form,
        "chosen": form.in_words(),
        "overview": overview,
        "versions": form.captioners(),
        "window_days": conf.get("WINDOW_DAYS"),
        "csv_query": request.GET.urlencode(),
    }
