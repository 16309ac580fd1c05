"""Who may see and do what. The CMS decides on placements; two permissions of our own decide on dashboards."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404

from alttext import adapters
from alttext.models import Placement


def editable_by(user: Any) -> QuerySet[Placement]:
    """Placements that `user` may edit, as the adapters say; empty for anonymous and inactive users."""
    if not (user and user.is_authenticated and user.is_active):
        return Placement.objects.none()
    allowed = Q(pk__in=[])
    for adapter in adapters.all_adapters():
        allowed |= Q(adapter=adapter.name) & adapter.editable(user)
    return Placement.objects.filter(allowed)


def get_placement_or_404(*, user: Any, placement_id: int) -> Placement:
    """One placement.  :raises Http404: unknown and foreign ids alike."""
    placement = (
        editable_by(user)
        .select_related("asset", "snapshot")
        .exclude(state=Placement.State.GONE)
        .filter(pk=placement_id)
        .first()
    )
    if placement is None:
        raise Http404("No such placement.")
    return placement


def may_see_dashboards(user: Any) -> bool:
    """Aggregates over all authors: leads and superusers."""
    return bool(user and user.is_active and user.has_perm("alttext.view_dashboards"))
