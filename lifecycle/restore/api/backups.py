"""API of backups: list, contents, preview and restore, equivalent to the pages."""

from uuid import UUID

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.drop.api.serializers import (
    BackupItemSerializer,
    BatchDetailSerializer,
    BatchSerializer,
    RestoreRequestSerializer,
)
from lifecycle.restore.selectors.backups import (
    BackupChoice,
    BackupFilter,
    BackupItemFilter,
    batches_for_user,
    get_batch_for_user,
    items_of_batch,
)
from lifecycle.restore.services.backups import (
    RestoreWish,
    backup_items_request,
    get_preview_for_user,
    restore_preview_request,
    restore_request,
)
from lifecycle.restore.services.names import RestoreTo
from lifecycle.restore.services.undo import UndoWish, restore_undo_request
from portal.access.fresh import authenticated_at
from portal.ui.api.pages import keyset_response
from portal.ui.api.serializers import ReasonSerializer, RunSerializer, page_of, said_reason
from portal.ui.api.views import list_parameters
from portal.ui.frame.context import current_lake, person


class BackupList(APIView):
    """Backup batches."""

    @extend_schema(
        operation_id="backups_list",
        responses=page_of("BackupBatch", BatchSerializer),
        parameters=list_parameters("day", "db", "table", "state"),
    )
    def get(self, request: Request) -> Response:
        """List the backup batches that you may see, newest first."""
        return keyset_response(
            request,
            batches_for_user(current_lake(request), person(request)),
            filter_class=BackupFilter,
            orders={"-day": ("-day", "-batch")},
            show=lambda row: dict(BatchSerializer(row).data),
        )


class BackupDetail(APIView):
    """One backup batch."""

    @extend_schema(operation_id="backups_get", responses=BatchDetailSerializer)
    def get(self, request: Request, batch_id: UUID) -> Response:
        """Return a batch."""
        batch = get_batch_for_user(batch_id, user=person(request))
        return Response(BatchDetailSerializer(batch).data)


class BackupItems(APIView):
    """The items of a batch."""

    @extend_schema(
        operation_id="backups_items",
        responses=page_of("BackupItem", BackupItemSerializer),
        parameters=list_parameters("partition"),
    )
    def get(self, request: Request, batch_id: UUID) -> Response:
        """List the items that the last look copied here (none before the first look)."""
        batch = get_batch_for_user(batch_id, user=person(request))
        return keyset_response(
            request,
            items_of_batch(batch),
            filter_class=BackupItemFilter,
            orders={"name": ("partition",)},
            show=lambda row: dict(BackupItemSerializer(row).data),
        )

    @extend_schema(operation_id="backups_look", request=None, responses={202: RunSerializer})
    def post(self, request: Request, batch_id: UUID) -> Response:
        """Have the items read from the files beside the data, by a short run."""
        run = backup_items_request(batch_id, user=person(request), now=timezone.now())
        return Response(RunSerializer(run).data, status=202)


class RestoreList(APIView):
    """Asking for a restore."""

    @extend_schema(
        operation_id="restores_create",
        request=RestoreRequestSerializer,
        responses={202: RunSerializer},
    )
    def post(self, request: Request) -> Response:
        """Preview a restore; with `straight_on` it goes ahead when nothing is in the way."""
        body = RestoreRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        choice = BackupChoice(
            day=said.get("day"),
            db=said.get("db", ""),
            table=said.get("table", ""),
            batch_ids=tuple(said.get("batches", ())),
            partitions=tuple(said.get("partitions", ())),
        )
        wish = RestoreWish(
            choice,
            said["reason"],
            straight_on=said["straight_on"],
            only_missing=said["only_missing"],
            to=RestoreTo(**said["to"]) if said["to"] else None,
        )
        run = restore_preview_request(
            current_lake(request), wish, user=person(request), now=timezone.now()
        )
        return Response(RunSerializer(run).data, status=202)


class RestoreDetail(APIView):
    """One restore, from its preview on."""

    @extend_schema(operation_id="restores_get", responses=RunSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """Return the preview; its result says what a restore would do to each item."""
        return Response(RunSerializer(get_preview_for_user(run_id, user=person(request))).data)

    @extend_schema(operation_id="restores_go", request=None, responses={202: RunSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Restore what the preview showed; conflicts are left out."""
        user = person(request)
        preview = get_preview_for_user(run_id, user=user)
        run = restore_request(preview, user=user, now=timezone.now())
        return Response(RunSerializer(run).data, status=202)


class RestoreUndo(APIView):
    """Taking a restore back."""

    @extend_schema(
        operation_id="restores_undo", request=ReasonSerializer, responses={202: RunSerializer}
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Put what the restore of this preview brought back into the backup; it destroys nothing.

        For who restored it, or an admin, with a fresh log-in. What was written or altered since
        stays, and is named.
        """
        reason, user = said_reason(request), person(request)
        preview = get_preview_for_user(run_id, user=user)
        wish = UndoWish(reason, authenticated_at(request._request))
        run = restore_undo_request(preview, wish, user=user, now=timezone.now())
        return Response(RunSerializer(run).data, status=202)
