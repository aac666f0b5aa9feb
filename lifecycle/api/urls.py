"""Which address of the room's API gives what?"""

from django.urls import URLPattern, URLResolver, path

from lifecycle import converters  # noqa: F401 - registers the converter `name`
from lifecycle.api import calendar, findings, guard, holds, scans
from lifecycle.api.drill_urls import drill_urlpatterns
from lifecycle.api.path_fix_urls import path_fix_urlpatterns
from lifecycle.api.plan_urls import plan_urlpatterns
from lifecycle.api.policy_urls import policy_urlpatterns

app_name = "lifecycle-api"

urlpatterns: list[URLPattern | URLResolver] = [
    path("picture/", findings.Picture.as_view(), name="picture"),
    path("needs-answer/", findings.NeedsAnswer.as_view(), name="needs-answer"),
    path("paths/", findings.PathList.as_view(), name="paths"),
    path("tables/", findings.TableList.as_view(), name="tables"),
    path("tables/<name:db>/<name:table>/", findings.TableDetail.as_view(), name="table"),
    path("tables/<name:db>/<name:table>/items/", findings.ItemList.as_view(), name="items"),
    path("tables/<name:db>/<name:table>/why/", findings.Why.as_view(), name="why"),
    path("databases/", findings.DatabaseList.as_view(), name="databases"),
    path("databases/<name:db>/mode/", findings.DatabaseModeView.as_view(), name="database-mode"),
    path("databases/<name:db>/shadow/", findings.ShadowList.as_view(), name="shadow"),
    path("calendar/", calendar.Calendar.as_view(), name="calendar"),
    path("calendar/end/", calendar.CalendarEnd.as_view(), name="calendar-end"),
    path("holds/", holds.HoldList.as_view(), name="holds"),
    path("holds/<uuid:hold>/release/", holds.HoldRelease.as_view(), name="hold-release"),
    path("dropped/", guard.DroppedList.as_view(), name="dropped"),
    path("dropped/<uuid:dropped_id>/", guard.DroppedDetail.as_view(), name="dropped-object"),
    path("policy-events/", guard.PolicyEventList.as_view(), name="policy-events"),
    path("policy-events/close/", guard.PolicyAlarmsClose.as_view(), name="policy-events-close"),
    path("scans/", findings.Scan.as_view(), name="scans"),
    path(
        "scans/<uuid:run_id>/accept-smaller/",
        scans.ScanAcceptSmaller.as_view(),
        name="scan-accept-smaller",
    ),
    *drill_urlpatterns,
    *path_fix_urlpatterns,
    *plan_urlpatterns,
    *policy_urlpatterns,
]
