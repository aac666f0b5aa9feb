"""Webhook by which a scheduler reports that a job wrote a table: `POST /api/refresh/`."""

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lake.errors import TooMuch
from portal.ui.api.operations import ApiView
from portal.ui.frame.context import person
from refresh.changes.api.serializers import TakenSerializer, WrittenSerializer
from refresh.changes.services.webhooks import Taken, WriteReport, report_write

SCOPE = "refresh"
MOST_BYTES = 16 * 1024**2
_MOST_SHOWN = 100


def check_size(request: Request) -> None:
    """Refuse a body that is too big before it is read.

    Raises:
        TooMuch: `refresh.body`.
    """
    size = request.META.get("CONTENT_LENGTH") or "0"
    if not size.isdecimal() or int(size) > MOST_BYTES:
        raise TooMuch(
            "refresh.body",
            f"The body is larger than {MOST_BYTES // 1024**2} MiB. Name partitions by a part of "
            "their names (dt=2026-11-21), or in several calls.",
        )


class Tell(ApiView):
    """The hook."""

    token_scope = SCOPE

    @extend_schema(
        operation_id="refresh_tell",
        request=WrittenSerializer,
        responses={202: TakenSerializer, 200: TakenSerializer},
    )
    def post(self, request: Request) -> Response:
        """Tell that a table was written; 200 = no cluster shows it, 429 = come again."""
        now = timezone.now()
        check_size(request)
        body = WrittenSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        said = body.validated_data
        report = WriteReport(said["lake"], said["table"], tuple(said["partitions"]))
        taken = report_write(report, user=person(request), now=now)
        return Response(as_json(taken), status=202 if taken.shown_as else 200)


def as_json(taken: Taken) -> dict[str, Any]:
    """Return the API's form of what was noted."""
    return {
        "lake": str(taken.hive.lake),
        "table": str(taken.hive),
        "written_at": taken.written_at.isoformat().replace("+00:00", "Z"),
        "shown_as": list(taken.shown_as),
        "is_whole": taken.is_whole,
        "n_partitions": taken.n_partitions,
        "n_dropped": taken.n_dropped,
        "unmatched": list(taken.unmatched[:_MOST_SHOWN]),
        "n_unmatched": len(taken.unmatched),
        "degraded": taken.degraded,
        "message": _message(taken),
    }


def _message(taken: Taken) -> str:
    if not taken.shown_as:
        return f"No cluster shows {taken.hive}, so nothing needs to be refreshed."
    what = "the table" if taken.is_whole else f"{taken.n_partitions + taken.n_dropped} partitions"
    return f"Taken in: {what}, for {len(taken.shown_as)} tables of StarRocks."
