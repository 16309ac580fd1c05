"""Tables and constraints; no HTTP, no Celery."""

from alttext.models.jobs import Job
from alttext.models.placements import Asset, ContextSnapshot, Placement
from alttext.models.suggestions import AppendOnly, CaptionerVersion, Decision, Suggestion

__all__ = ["AppendOnly", "Asset", "CaptionerVersion", "ContextSnapshot", "Decision", "Job", "Placement", "Suggestion"]
