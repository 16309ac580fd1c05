"""Rows as JSON, and the JSON of a decision as checked values. Decides nothing: operations do."""

from __future__ import annotations

import math
from typing import Any

from django.core.exceptions import ObjectDoesNotExist
from rest_framework import serializers

from alttext import queries, roles, rules
from alttext.api.requests import MAX_ID
from alttext.models import Asset, CaptionerVersion, ContextSnapshot, Decision, Job, Placement, Suggestion

MAX_TEXT_CHARS = 10_000  # code points; a stop for accidents, far above any text a reader would bear
MAX_REASON_CHARS = 1_000
MAX_SECONDS = 86_400


class CaptionerVersionSerializer(serializers.ModelSerializer):
    class Meta:
        model = CaptionerVersion
        fields = ["name", "key"]
        read_only_fields = fields


class SuggestionSerializer(serializers.ModelSerializer):
    reasons = serializers.ListField(
        child=serializers.CharField(), source="reason_list", read_only=True, help_text="codes; empty with a text"
    )
    flags = serializers.ListField(child=serializers.CharField(), read_only=True)
    evidence = serializers.DictField(read_only=True, help_text="what the captioner saw; keys differ by captioner")
    captioner = CaptionerVersionSerializer(source="captioner_version", read_only=True)
    shown = serializers.BooleanField(
        source="is_shown", read_only=True, help_text="false: the author writes first, or it is a control item"
    )

    def to_representation(self, instance: Suggestion) -> dict[str, Any]:
        """A text that the author may not see yet stays out, and so does what it rests on."""
        shown: dict[str, Any] = super().to_representation(instance)
        return shown if instance.is_shown else shown | {"text": None, "evidence": {}, "flags": []}

    class Meta:
        model = Suggestion
        fields = [
            *("id", "placement", "job", "state", "text", "reasons", "detail", "language", "evidence", "flags"),
            *("captioner", "seconds", "suggested_at", "state_at", "display", "shown"),
        ]
        read_only_fields = fields


class AssetSerializer(serializers.ModelSerializer):
    flags = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = Asset
        fields = ["content_hash", "size_bytes", "format", "width_px", "height_px", "text_share", "intake", "flags"]
        read_only_fields = fields


class ContextSerializer(serializers.ModelSerializer):
    headings = serializers.ListField(child=serializers.CharField(), read_only=True)

    class Meta:
        model = ContextSnapshot
        fields = [
            *("context_hash", "title", "headings", "before", "after", "caption"),
            *("link_target", "link_label", "link_text_visible", "language"),
        ]
        read_only_fields = fields


class PlacementSerializer(serializers.ModelSerializer):
    """One shape in lists and alone, so that a client can work through a list without further requests."""

    suggestion = SuggestionSerializer(
        source="shown_suggestion", read_only=True, allow_null=True, help_text="the newest, whatever became of it"
    )
    asset = AssetSerializer(read_only=True, allow_null=True)
    context = ContextSerializer(source="snapshot", read_only=True, allow_null=True)  # type: ignore[assignment]

    class Meta:
        model = Placement
        fields = [
            *("id", "adapter", "key", "page_title", "page_url", "image_name", "image_url", "role", "language", "state"),
            *("current_alt", "decorative", "alt_hash", "stale", "problem", "version", "updated_at"),
            *("asset", "context", "suggestion"),
        ]
        read_only_fields = fields


class DecisionSerializer(serializers.ModelSerializer):
    """How long an author took is measured, but not shown to colleagues."""

    by_name = serializers.SerializerMethodField(help_text="null once the account is gone")
    outcome = serializers.CharField(read_only=True, help_text="AS_IS, EDITED, REPLACED; empty without a suggestion")
    captioner = CaptionerVersionSerializer(source="suggestion.captioner_version", read_only=True, allow_null=True)

    class Meta:
        model = Decision
        fields = [
            *("id", "placement", "suggestion", "captioner", "version", "act", "by", "by_name", "at"),
            *("final_text", "final_decorative", "prior_text", "prior_decorative"),
            *("outcome", "distance", "distance_norm", "distance_words", "trivial", "reason", "undoes"),
        ]
        read_only_fields = fields

    def get_by_name(self, decision: Decision) -> str | None:
        try:
            return decision.by.get_username()
        except ObjectDoesNotExist:  # decisions outlive accounts
            return None


class JobSerializer(serializers.ModelSerializer):
    suggestion = serializers.SerializerMethodField(help_text="id of the answer; null before and without one")
    detail = serializers.SerializerMethodField(help_text="words for the author, once the job has failed")

    class Meta:
        model = Job
        fields = ["id", "placement", "state", "attempts", "code", "detail", "suggestion", "created_at", "finished_at"]
        read_only_fields = fields

    def get_suggestion(self, job: Job) -> int | None:
        try:
            return job.suggestion.pk
        except ObjectDoesNotExist:
            return None

    def get_detail(self, job: Job) -> str:
        return job.detail if job.state in (Job.State.FAILED, Job.State.DEAD) else ""


class MadeSerializer(serializers.Serializer):
    """A decision, and the placement as it is after it; the ETag header is that of the placement."""

    decision = DecisionSerializer()
    placement = PlacementSerializer()


class ProblemSerializer(serializers.Serializer):
    """Why a request was refused."""

    code = serializers.CharField(help_text="stable, for programs")
    detail = serializers.CharField(help_text="in words")


class InvalidSerializer(ProblemSerializer):
    """Values that cannot be used."""

    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.ListField(child=serializers.CharField()), required=False, help_text="sentences by field"
    )
    limit = serializers.IntegerField(required=False, help_text="code points that the site stores here")


class ConflictSerializer(ProblemSerializer):
    """What stands there now, and what was sent; without both where no text is concerned."""

    placement = PlacementSerializer(required=False)
    typed = serializers.CharField(required=False, allow_null=True, allow_blank=True, help_text="your text, as sent")


class PlacementQuery(serializers.Serializer):
    """Filters of the list of placements."""

    state = serializers.ChoiceField(list(queries.FILTERS), default="all")
    language = serializers.CharField(required=False, max_length=35)
    role = serializers.ChoiceField([role.value for role in roles.Role], required=False)
    search = serializers.CharField(required=False, max_length=200, help_text="in page title, image name, current alt")


class SuggestionRequest(serializers.Serializer):
    """The body may be empty."""

    again = serializers.BooleanField(default=False, help_text="ask for another one; the one on offer is overtaken")


class Seconds(serializers.FloatField):
    """A float that is a number: the framework lets "nan" through, and an integer of 400 digits raises in it."""

    def to_internal_value(self, data: Any) -> float:
        try:
            value = super().to_internal_value(data)
        except OverflowError:
            self.fail("invalid")
        if not math.isfinite(value):
            self.fail("invalid")
        return value


def refuse_errors(text: str) -> None:
    """:raises ValidationError: what the lint rules call an error: no visible character, control characters."""
    if found := [item for item in rules.check(rules.Subject(text=text)) if item.level == rules.ERROR]:
        raise serializers.ValidationError([f"{item.message} {item.repair}" for item in found], code=found[0].rule)


class DecisionRequest(serializers.Serializer):
    """One act of a person."""

    SAVE, REJECT, DECORATIVE, UNDO = "save", "reject", "decorative", "undo"

    act = serializers.ChoiceField([SAVE, REJECT, DECORATIVE, UNDO])
    text = serializers.CharField(
        required=False,
        trim_whitespace=False,
        max_length=MAX_TEXT_CHARS,
        validators=[refuse_errors],
        help_text="with save: the alternative text, stored as it is",
    )
    reason = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=MAX_REASON_CHARS,
        validators=[refuse_errors],
        help_text="with reject: why",
    )
    suggestion = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MAX_ID,
        help_text="the one on screen; default: the one in the ETag",
    )
    idempotency_key = serializers.UUIDField(
        required=False, help_text="of this act: a repeat gets the first answer again, and counts once"
    )
    active_seconds = Seconds(required=False, allow_null=True, min_value=0, max_value=MAX_SECONDS)
    cleared = serializers.BooleanField(default=False, help_text="the author emptied the box before typing")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["act"] == self.SAVE and "text" not in attrs:
            raise serializers.ValidationError({"text": ["A text is needed to save."]})
        return attrs
