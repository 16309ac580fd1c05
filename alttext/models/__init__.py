"""Tables and constraints; no HTTP, no Celery."""

from alttext.models.desk import Claim, Comment, Draft, Later, SavedFilter
from alttext.models.jobs import Job
from alttext.models.placements import Asset, ContextSnapshot, Placement
from alttext.models.scans import ScanCheckpoint
from alttext.models.suggestions import AppendOnly, CaptionerVersion, Decision, Suggestion

__all__ = [
    "AppendOnly",
    "Asset",
    "CaptionerVersion",
    "Claim",
    "Comment",
    "ContextSnapshot",
    "Decision",
    "Draft",
    "Job",
    "Later",
    "Placement",
    "SavedFilter",
    "ScanCheckpoint",
    "Suggestion",
]
