"""Reads of requests about changed columns of a layer's source, for admins and operators."""

from uuid import UUID

from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from pipelines.models import LayerSchemaRequest
from portal.access.models import User
from portal.lake.errors import NotVisible


def requests_visible(lake: str, user: User) -> QuerySet[LayerSchemaRequest]:
    """Return the requests of a lake; for others than admins and operators there are none."""
    rows = LayerSchemaRequest.objects.filter(lake=lake)
    return rows.select_related("edge__layer") if user.is_lake_staff_of(lake) else rows.none()


def get_request_for_user(request_id: UUID | str, *, user: User) -> LayerSchemaRequest:
    """Return one request, or raise NotVisible, whether it exists or not."""
    rows = LayerSchemaRequest.objects.select_related("edge__layer", "approval")
    try:
        found = rows.filter(pk=request_id).first()
    except ValidationError:
        found = None
    if found is None or not user.is_lake_staff_of(found.lake):
        raise NotVisible("layer_schema.unknown", "There is no such request.")
    return found
