"""The REST API: routes. The same operations and permissions as the pages; no rule of its own."""

from typing import Any

from django.urls import path, re_path
from rest_framework.routers import SimpleRouter

from alttext.api import base, history, placements, schema

router = SimpleRouter(use_regex_path=False)
router.register("placements", placements.PlacementViews, basename="api-placement")
router.register("suggestions", history.SuggestionViews, basename="api-suggestion")
router.register("decisions", history.DecisionViews, basename="api-decision")
router.register("jobs", history.JobViews, basename="api-job")

every_verb: dict[str, Any] = dict.fromkeys(["get", "post", "put", "patch", "delete"], "refuse")
urlpatterns = [
    path("schema/", schema.SchemaView.as_view(), name="api-schema"),
    *router.urls,
    re_path(r"^.*$", base.NoSuchRoute.as_view(every_verb), name="api-no-such-route"),
]
