"""The lakes of the objects that the platform's own addresses name."""

from portal.catalog.models import SavedView
from portal.notices.models import Notice
from portal.runs.models import Run
from portal.ui.frame.lakes import ObjectLake, register_object_lakes


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "ui",
        ObjectLake("run_id", Run),
        ObjectLake("notice_id", Notice),
        ObjectLake("view_id", SavedView),
    )
