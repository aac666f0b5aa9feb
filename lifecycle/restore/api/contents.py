"""API of the contents of a table's backup, equivalent to its page. It never gives rows."""

from datetime import date

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle.restore.services.contents import (
    BackupOfTable,
    backup_look_newest,
    backup_look_request,
)
from portal.ui.api.serializers import RunSerializer
from portal.ui.frame.context import current_lake, person


class ContentsSerializer(serializers.Serializer[dict[str, object]]):
    """What a look into a table's backup found, and its run."""

    run = RunSerializer(allow_null=True)
    contents = serializers.JSONField(allow_null=True)


class BackupContents(APIView):
    """Looking into the backup of one table of one day."""

    @extend_schema(operation_id="backups_contents", responses=ContentsSerializer)
    def get(self, request: Request, day: date, db: str, table: str) -> Response:
        """Return what the newest look found (null before the first): schema, counts, values."""
        what = BackupOfTable(day, db, table)
        run = backup_look_newest(current_lake(request), what, user=person(request))
        result = run.result if run is not None and isinstance(run.result, dict) else {}
        return Response(
            {
                "run": None if run is None else RunSerializer(run).data,
                "contents": result.get("contents"),
            }
        )

    @extend_schema(
        operation_id="backups_contents_look", request=None, responses={202: RunSerializer}
    )
    def post(self, request: Request, day: date, db: str, table: str) -> Response:
        """Have the manifests read by a short run."""
        run = backup_look_request(
            current_lake(request),
            BackupOfTable(day, db, table),
            user=person(request),
            now=timezone.now(),
        )
        return Response(RunSerializer(run).data, status=202)
