"""Reads of requests about schemas, and what a change needs of the lake's table."""

from uuid import UUID

import msgspec
from django.core.exceptions import ValidationError
from django.db.models import QuerySet

from pipelines.cdc.schema.domain.classes import SchemaChange as Change
from pipelines.cdc.schema.domain.targets import Needs, TargetChange, target_changes
from pipelines.models import SchemaChange, SchemaRequest
from portal.access.models import User
from portal.lake.errors import NotVisible


def requests_visible(lake: str, user: User) -> QuerySet[SchemaRequest]:
    """Return the requests of a lake; for others than admins and operators there are none."""
    rows = SchemaRequest.objects.filter(lake=lake)
    return (
        rows.select_related("change__captured__pipeline")
        if user.is_lake_staff_of(lake)
        else rows.none()
    )


def get_request_for_user(request_id: UUID | str, *, user: User) -> SchemaRequest:
    """Return one request, or raise NotVisible, whether it exists or not."""
    rows = SchemaRequest.objects.select_related("change__captured__pipeline", "approval")
    try:
        found = rows.filter(pk=request_id).first()
    except ValidationError:
        found = None
    if found is None or not user.is_lake_staff_of(found.lake):
        raise NotVisible("schema_request.unknown", "There is no such request.")
    return found


def open_request_of(change: SchemaChange) -> SchemaRequest | None:
    """Return the request about a change that waits for a decision."""
    return SchemaRequest.objects.filter(open_key=change.pk).first()


def needs_of(change: SchemaChange) -> tuple[TargetChange, ...]:
    """Return what a change needs of the lake's table once it is approved."""
    return target_changes(changes_of(change), fixed=fixed_columns(change))


def changes_of(change: SchemaChange) -> tuple[Change, ...]:
    """Return each single change, as the domain knows it."""
    return msgspec.convert(change.changes, tuple[Change, ...])


def needs_rebuild(change: SchemaChange) -> bool:
    """Whether the lake's table cannot become what the change asks for."""
    return any(one.needs is Needs.REBUILD for one in needs_of(change))


def fixed_columns(change: SchemaChange) -> list[str]:
    """Return columns that Hudi cannot alter."""
    return [*change.captured.key, *change.captured.partitioning]
