"""Where an interrupted scan goes on: one row an adapter, gone when the scan is done. Knows no placement.

Two hosts that scan at once do no harm: each row was true of the scan that wrote it, and the later one stays.
"""

from __future__ import annotations

from datetime import datetime

from alttext.models import ScanCheckpoint


def left_by(adapter: str) -> ScanCheckpoint | None:
    """The checkpoint of a scan of `adapter` that did not come to its end."""
    return ScanCheckpoint.objects.filter(adapter=adapter).first()


def save(*, adapter: str, last_key: str, found: int, since: datetime | None, at: datetime) -> None:
    """All places up to `last_key` were looked at."""
    row = {"last_key": last_key, "found": found, "since": since, "saved_at": at}
    ScanCheckpoint.objects.update_or_create(adapter=adapter, defaults=row)


def clear(adapter: str) -> None:
    """The scan came to its end. Writes nothing where nothing was left."""
    row = left_by(adapter)
    if row is not None:
        row.delete()
