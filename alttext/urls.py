"""One line per view and API route."""

from django.urls import include, path

from alttext.views import acts, bulk, dashboards, desk, exchange, field, placement, queue

app_name = "alttext"
urlpatterns: list = [
    path("", queue.show, name="home"),
    path("queue/", queue.show, name="queue"),
    path("queue/next/", desk.serve, name="next"),
    path("queue/filters/save/", desk.save_filter, name="save-filter"),
    path("queue/filters/forget/", desk.forget_filter, name="forget-filter"),
    path("queue/bulk/", bulk.preview, name="bulk"),
    path("queue/bulk/confirm/", bulk.confirm, name="bulk-confirm"),
    path("queue/bulk/undo/", bulk.undo, name="bulk-undo"),
    path("texts/", exchange.show, name="exchange"),
    path("texts/texts.csv", exchange.sheet, name="exchange-csv"),
    path("texts/texts.xlf", exchange.xliff, name="exchange-xliff"),
    path("texts/preview/", exchange.preview, name="exchange-preview"),
    path("texts/import/", exchange.carry_out, name="exchange-import"),
    path("keys/", queue.keys, name="keys"),
    path("find/<str:adapter>/<path:key>/", placement.find, name="find"),
    path("field/<str:adapter>/<path:key>/ask/", field.ask, name="field-ask"),
    path("field/<str:adapter>/<path:key>/", field.show, name="field"),
    path("placement/<int:placement_id>/", placement.show, name="placement"),
    path("placement/<int:placement_id>/suggestion/", placement.suggestion, name="suggestion"),
    path("placement/<int:placement_id>/check/", placement.check, name="check"),
    path("placement/<int:placement_id>/save/", acts.save, name="save"),
    path("placement/<int:placement_id>/reject/", acts.reject, name="reject"),
    path("placement/<int:placement_id>/decorative/", acts.decorative, name="decorative"),
    path("placement/<int:placement_id>/undo/", acts.undo, name="undo"),
    path("placement/<int:placement_id>/request/", acts.ask, name="request"),
    path("placement/<int:placement_id>/role/", acts.role, name="role"),
    path("placement/<int:placement_id>/guide/", placement.guide, name="guide"),
    path("placement/<int:placement_id>/compare/", acts.compare, name="compare"),
    path("placement/<int:placement_id>/later/", desk.later, name="later"),
    path("placement/<int:placement_id>/discard/", desk.discard, name="discard"),
    path("placement/<int:placement_id>/release/", desk.release, name="release"),
    path("placement/<int:placement_id>/comment/", desk.comment, name="comment"),
    path("dashboards/", dashboards.show, name="dashboards"),
    path("dashboards/edits.csv", dashboards.edits_csv, name="edits-csv"),
    path("api/", include("alttext.api")),
]
