"""What asking for many texts at once came to: how many were asked for, how many were not, and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from django import forms


@dataclass
class Asked:
    """The count of one bulk request; `skipped` by the reason in words."""

    asked: int = 0
    skipped: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        told = f"Asked for {self.asked} text{'' if self.asked == 1 else 's'}."
        reasons = [f"{count} × {reason}" for reason, count in self.skipped.most_common()]
        return " ".join([told, f"Skipped: {'; '.join(reasons)}."]) if reasons else told


class AskForm(forms.Form):
    """Whether images that have a text are asked about as well."""

    again = forms.BooleanField(
        required=False,
        label="Also for images that have a description",
        help_text="Their descriptions stay as they are until a person changes them.",
    )

    def kwargs(self) -> dict[str, Any]:
        return {"again": self.cleaned_data["again"]}
