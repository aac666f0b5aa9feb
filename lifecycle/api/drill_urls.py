"""Which address of the API of restore drills gives what?"""

from django.urls import URLPattern, path

from lifecycle.api import drills

drill_urlpatterns: list[URLPattern] = [
    path("drills/", drills.DrillList.as_view(), name="drills"),
    path("drills/databases/", drills.DrillDatabases.as_view(), name="drill-databases"),
    path("drills/<uuid:drill_id>/", drills.DrillDetail.as_view(), name="drill"),
    path("drills/<uuid:drill_id>/items/", drills.DrillItems.as_view(), name="drill-items"),
]
