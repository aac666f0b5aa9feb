"""Which address of the room shows what?"""

from django.urls import URLPattern, URLResolver, path

from lifecycle import converters  # noqa: F401 - registers the converter `name`
from lifecycle.ui import calendar, databases, expiring, guard, holds, paths, scan
from lifecycle.ui.drill_urls import drill_urlpatterns
from lifecycle.ui.path_fix_nav import path_fix_urlpatterns
from lifecycle.ui.plan_urls import plan_urlpatterns
from lifecycle.ui.policy_urls import policy_urlpatterns

app_name = "lifecycle"

urlpatterns: list[URLPattern | URLResolver] = [
    path("paths/", paths.paths, name="paths"),
    path("expiring/", expiring.expiring, name="expiring"),
    path("tables/<name:db>/<name:table>/", expiring.table, name="table"),
    path("databases/", databases.databases, name="databases"),
    path("databases/<name:db>/", databases.database, name="database"),
    path("databases/<name:db>/mode/", databases.database_mode, name="database-mode"),
    path("calendar/", calendar.calendar, name="calendar"),
    path("calendar/make/", calendar.calendar_make, name="calendar-make"),
    path("calendar/end/", calendar.calendar_end, name="calendar-end"),
    path("calendar/<slug:secret>/lakewarden.ics", calendar.calendar_feed, name="calendar-feed"),
    path("holds/", holds.holds, name="holds"),
    path("holds/place/", holds.hold_place_view, name="hold-place"),
    path("holds/<uuid:hold>/release/", holds.hold_release_view, name="hold-release"),
    path("dropped/", guard.dropped, name="dropped"),
    path("dropped/<uuid:dropped_id>/", guard.dropped_object, name="dropped-object"),
    path("policy-alarms/", guard.policy_alarms, name="policy-alarms"),
    path("policy-alarms/close/", guard.policy_alarms_close_view, name="policy-alarms-close"),
    path("scan/", scan.scan_now, name="scan"),
    path("scans/<uuid:run_id>/smaller/", scan.scan_smaller, name="scan-smaller"),
    *drill_urlpatterns,
    *path_fix_urlpatterns,
    *plan_urlpatterns,
    *policy_urlpatterns,
]
