"""What the workbench's forms send: a text with what was on screen when it was written, filters, a role. No writes."""

from __future__ import annotations

import uuid
from typing import Any, cast
from urllib.parse import urlencode

from django import forms
from django.core.exceptions import ValidationError
from django.http import HttpRequest, QueryDict

from alttext import edits, queries, roles, rules
from alttext.operations.bulk import Verb
from alttext.operations.decisions import Seen
from alttext.roles import Role

TOO_OLD = "This page was damaged or is too old. Your text is kept: copy it, and load the page again."
MOST_CHARS = 10_000  # a stop for accidents, far above any text that a reader would bear; the API has the same
MOST_SECONDS = 24 * 3600.0
MOST_VERSION, MOST_ID = 2**31 - 1, 2**63 - 1  # of the columns
MOST_QUERY = 4_000  # characters of filters on their way: 200 signs of a search take up to 2,400
CHOOSABLE = [role for role in Role if role is not Role.DECORATIVE]  # decorative is an act of its own, with undo


class Seconds(forms.FloatField):
    """Seconds, or None: a bad value of a script must not keep an author from saving."""

    def clean(self, value: Any) -> float | None:
        try:
            seconds = super().clean(value)
        except ValidationError:
            return None
        return seconds if seconds is not None and 0 <= seconds <= MOST_SECONDS else None


class Act(forms.Form):
    """What every act on a placement sends. The text comes along, so that no answer loses what was typed."""

    version = forms.IntegerField(min_value=0, max_value=MOST_VERSION)
    content_hash = forms.CharField(max_length=64, required=False)
    context_hash = forms.CharField(max_length=64, required=False)
    alt_hash = forms.CharField(max_length=64, required=False)
    suggestion = forms.IntegerField(min_value=1, max_value=MOST_ID, required=False)
    key = forms.UUIDField()
    active_seconds = Seconds(required=False)
    cleared = forms.BooleanField(required=False)
    text = forms.CharField(required=False)
    reason = forms.CharField(required=False, max_length=1000)

    @property
    def typed(self) -> str:
        """The text as it was sent, valid or not, with the line ends of a browser made plain."""
        return str(self.data.get("text", "")).replace("\r\n", "\n")

    @property
    def seen(self) -> Seen:
        """What was on screen."""
        data = self.cleaned_data
        return Seen(
            version=data["version"],
            content_hash=data["content_hash"],
            context_hash=data["context_hash"],
            alt_hash=data["alt_hash"],
            suggestion_id=data["suggestion"],
        )

    def key_for(self, act: str) -> uuid.UUID:
        """Key of this act with this text: a double click repeats it, but a page that the browser's Back button
        brought again, with another text in the box, is a new act.
        """
        return uuid.uuid5(self.cleaned_data["key"], f"{act}\n{self.typed}")

    @property
    def problem(self) -> str:
        """What is wrong, in one sentence for the author."""
        about_the_text = self.errors.get("text")
        return str(about_the_text[0]) if about_the_text else TOO_OLD


class Text(Act):
    """A text to be saved."""

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"].replace("\r\n", "\n")
        if problem := problem_of(text):
            raise ValidationError(problem)
        return text


def problem_of(text: str) -> str:
    """Why `text` cannot be saved by anybody, in a sentence; empty: it can."""
    if len(text) > MOST_CHARS:
        return f"That is more than {MOST_CHARS} characters. Move the rest to the page itself."
    if not edits.normalise(text):
        return "To leave it without text, choose “Mark as decorative”."
    errors = (finding for finding in rules.check(rules.Subject(text)) if finding.level == rules.ERROR)
    return next((f"{finding.message} {finding.repair}" for finding in errors), "")


class Bulk(forms.Form):
    """Images chosen in the queue, and what to do with them: each by its box, or all that are listed."""

    verb = forms.ChoiceField(choices=[(verb.value, verb.value) for verb in Verb])
    all = forms.BooleanField(required=False)
    reason = forms.CharField(required=False, max_length=1000)

    @property
    def ids(self) -> list[int]:
        """Ids of the chosen placements, each once, in order; what is no id is left out."""
        data = cast("QueryDict", self.data)
        sent = data.getlist("listed" if self.cleaned_data["all"] else "item")
        return sorted({int(value) for value in sent if value.isascii() and value.isdecimal() and len(value) < 19})


class TextsFile(forms.Form):
    """A file of texts that was edited elsewhere."""

    file = forms.FileField(allow_empty_file=True)


class ChosenRole(forms.Form):
    """The role that a person chose."""

    role = forms.ChoiceField(choices=[(role.value, roles.LABELS[role]) for role in CHOOSABLE])


class Comment(forms.Form):
    """A word to colleagues. Named apart from the alternative text, so that neither is taken for the other."""

    comment = forms.CharField(max_length=2000)


class FilterName(forms.Form):
    """The name of saved filters."""

    name = forms.CharField(max_length=60)


class Filters(forms.Form):
    """What the queue is narrowed by. A value that means nothing is left out."""

    state = forms.ChoiceField(choices=[(name, name) for name in queries.FILTERS], required=False)
    language = forms.CharField(max_length=35, required=False)
    role = forms.ChoiceField(choices=[("", "")] + [(role.value, roles.LABELS[role]) for role in Role], required=False)
    search = forms.CharField(max_length=200, required=False)
    who = forms.ChoiceField(choices=[("", ""), *queries.WHO.items()], required=False)
    place = forms.ChoiceField(choices=[("", ""), *queries.PLACES.items()], required=False)
    page = forms.IntegerField(min_value=1, max_value=MOST_ID, required=False)
    captioner = forms.IntegerField(min_value=1, max_value=MOST_ID, required=False)
    after = forms.IntegerField(min_value=0, max_value=MOST_ID, required=False)

    def values(self) -> dict[str, Any]:
        """Keyword arguments of `queries.queue`."""
        self.is_valid()
        data = getattr(self, "cleaned_data", {})
        names = ("state", "language", "role", "search", "who", "place", "page", "captioner")
        return {name: data[name] for name in names if data.get(name)}

    @classmethod
    def carried(cls, request: HttpRequest) -> Filters:
        """The filters that an author came with: in the address, or in the form of a page opened with them."""
        return cls(QueryDict(request.POST.get("filters", "")[:MOST_QUERY]) if request.method == "POST" else request.GET)

    @property
    def query(self) -> str:
        """The filters as a query string, to be carried on."""
        return urlencode(self.values())

    @property
    def cursor(self) -> int:
        """The id after which the page starts."""
        self.is_valid()
        return self.cleaned_data.get("after") or 0
