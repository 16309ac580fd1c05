"""Reads for the dashboards: what became of the suggestions of a period. Starts no write, draws nothing.

Leads see all authors together and nobody alone: what people did in a part of the site appears only from
ALTTEXT["MIN_AUTHORS"] authors.
"""

from alttext.reports.cohorts import Cohort, captioner_versions, languages
from alttext.reports.figures import Acts, CodeCount, Overview, RubberStamps, Sizes, overview
from alttext.reports.records import EditRecord, edit_records

__all__ = [
    "Acts",
    "CodeCount",
    "Cohort",
    "EditRecord",
    "Overview",
    "RubberStamps",
    "Sizes",
    "captioner_versions",
    "edit_records",
    "languages",
    "overview",
]
