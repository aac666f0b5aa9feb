"""API of the contents of a table's backup, equivalent to its page. It never gives rows."""

from datetime import date

from django.utils import timezone
from rest_framework import serializers
from rest_framework.response import Response

from lifecycle.restore.services.contents import (
    BackupOfTable,
    backup_inspection_request,
    backup_look_newest,
)
from portal.ui.api.operations import ApiView, operation
from portal.ui.api.serializers import RunSerializer


class ContentsSerializer(serializers.Serializer[dict[str, object]]):
    """What a check into a table's backup found, and its run."""

    run = RunSerializer(allow_null=True)
    contents = serializers.JSONField(allow_null=True)


class BackupContents(ApiView):
    """Looking into the backup of one table of one day."""

    @operation("backups_contents", answer=ContentsSerializer)
    def get(self, day: date, db: str, table: str) -> object:
        """Return what the newest look found (null before the first): schema, counts, values."""
        what = BackupOfTable(day, db, table)
        run = backup_look_newest(self.lake, what, user=self.user)
        result = run.result if run is not None and isinstance(run.result, dict) else {}
        return Response(
            {
                "run": None if run is None else RunSerializer(run).data,
                "contents": result.get("contents"),
            }
        )

    @operation("backups_contents_look", answer=RunSerializer, status=202)
    def post(self, day: date, db: str, table: str) -> object:
        """Have the manifests read by a short run."""
        return backup_inspection_request(
            self.lake, BackupOfTable(day, db, table), user=self.user, now=timezone.now()
        )
