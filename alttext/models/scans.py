"""How far an unfinished scan has come. In the database, so that it survives a killed process and serves every host."""

from __future__ import annotations

from django.db import models


class ScanCheckpoint(models.Model):
    """One row an adapter, only while a scan of it is unfinished: all places up to `last_key` were looked at."""

    adapter = models.CharField(max_length=64, unique=True)
    last_key = models.CharField(max_length=200)
    since = models.DateTimeField(null=True, help_text="the scan looks only at places whose page changed since")
    found = models.PositiveIntegerField(help_text="places up to `last_key`")
    saved_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"scan of {self.adapter} up to {self.last_key}"
