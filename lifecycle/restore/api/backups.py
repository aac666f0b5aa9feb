"""API of backups: list, contents, preview and restore, equivalent to the pages."""

from uuid import UUID

from django.utils import timezone

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
    RestoreParams,
    backup_items_request,
    get_preview_for_user,
    restore_preview_request,
    restore_request,
)
from lifecycle.restore.services.names import RestoreTo
from lifecycle.restore.services.undo import UndoParams, restore_undo_request
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.pages import KeysetList, Rows
from portal.ui.api.serializers import ReasonSerializer, RunSerializer


class BackupList(KeysetList):
    """Backup batches."""

    operation_id = "backups_list"
    page_name = "BackupBatch"
    serializer_class = BatchSerializer
    filterset_class = BackupFilter
    orders = {"-day": ("-day", "-batch")}

    def get_queryset(self) -> Rows:
        """List the backup batches that you may see, newest first."""
        return batches_for_user(self.lake, self.user)


class BackupDetail(ApiView):
    """One backup batch."""

    @operation("backups_get", answer=BatchDetailSerializer)
    def get(self, batch_id: UUID) -> object:
        """Return a batch."""
        return get_batch_for_user(batch_id, user=self.user)


class BackupItems(KeysetList):
    """The items of a batch."""

    operation_id = "backups_items"
    serializer_class = BackupItemSerializer
    filterset_class = BackupItemFilter
    orders = {"name": ("partition",)}

    def get_queryset(self) -> Rows:
        """List the items that the last check copied here (none before the first check)."""
        batch = get_batch_for_user(self.kwargs["batch_id"], user=self.user)
        return items_of_batch(batch)

    @operation("backups_look", answer=RunSerializer, status=202)
    def post(self, batch_id: UUID) -> object:
        """Have the items read from the files beside the data, by a short run."""
        return backup_items_request(batch_id, user=self.user, now=timezone.now())


class RestoreList(ApiView):
    """Asking for a restore."""

    @operation("restores_create", body=RestoreRequestSerializer, answer=RunSerializer, status=202)
    def post(self) -> object:
        """Preview a restore; with `straight_on` it goes ahead when nothing is in the way."""
        data = self.data
        choice = BackupChoice(
            day=data.get("day"),
            db=data.get("db", ""),
            table=data.get("table", ""),
            batch_ids=tuple(data.get("batches", ())),
            partitions=tuple(data.get("partitions", ())),
        )
        wish = RestoreParams(
            choice,
            data["reason"],
            straight_on=data["straight_on"],
            only_missing=data["only_missing"],
            to=RestoreTo(**data["to"]) if data["to"] else None,
        )
        return restore_preview_request(self.lake, wish, user=self.user, now=timezone.now())


class RestoreDetail(ApiView):
    """One restore, from its preview on."""

    @operation("restores_get", answer=RunSerializer)
    def get(self, run_id: UUID) -> object:
        """Return the preview; its result says what a restore would do to each item."""
        return get_preview_for_user(run_id, user=self.user)

    @operation("restores_go", answer=RunSerializer, status=202)
    def post(self, run_id: UUID) -> object:
        """Restore what the preview showed; conflicts are left out."""
        preview = get_preview_for_user(run_id, user=self.user)
        return restore_request(preview, user=self.user, now=timezone.now())


class RestoreUndo(ApiView):
    """Taking a restore back."""

    @operation("restores_undo", body=ReasonSerializer, answer=RunSerializer, status=202)
    def post(self, run_id: UUID) -> object:
        """Put what the restore of this preview brought back into the backup; it destroys nothing.

        For who restored it, or an admin, with a fresh log-in. What was written or altered since
        stays, and is named.
        """
        reason = self.data["reason"]
        preview = get_preview_for_user(run_id, user=self.user)
        wish = UndoParams(reason, self.authenticated_at)
        return restore_undo_request(preview, wish, user=self.user, now=timezone.now())
