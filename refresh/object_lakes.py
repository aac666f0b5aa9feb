"""The lakes of the objects that addresses of refresh name; a cluster may serve several lakes."""

from portal.ui.frame.lakes import ObjectLake, register_object_lakes
from refresh.models import Refresh, RefreshTarget


def register() -> None:
    """Register how each is found."""
    register_object_lakes(
        "refresh",
        ObjectLake("target_id", RefreshTarget, lake="watched__lake"),
        ObjectLake("public_id", Refresh, "public_id", lake="target__watched__lake"),
    )
