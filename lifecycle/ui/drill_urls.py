"""Which address of restore drills shows what?"""

from django.urls import URLPattern, path

from lifecycle.ui import drills

drill_urlpatterns: list[URLPattern] = [
    path("drills/", drills.drills, name="drills"),
    path("drills/start/", drills.drill_start, name="drill-start"),
    path("drills/<uuid:drill_id>/", drills.drill, name="drill"),
]
