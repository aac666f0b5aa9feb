"""Asks for the analysis of recorded queries, and keeps what it found for the pages."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.models import TopShape, TopShapeTable
from optimizer.queries.domain.help import is_helped
from optimizer.queries.services.keeping import keeps_queries
from portal.access.models import User
from portal.lake.errors import NotAllowed, RuleViolation
from portal.lake.lines import fitted
from portal.runs.models import Run
from portal.runs.requests.services import run_request

TOP_KIND = "optimizer.top_shapes"
_FIELDS = (
    *("engine", "text", "is_parsed", "names_all_tables", "n_queries", "n_failed", "seconds"),
    *("seconds_lately", "seconds_before", "p50", "p95", "n_bytes", "share", "days"),
)


def analysis_request(lake: str, *, user: User, now: datetime) -> Run:
    """Ask for the analysis now; while one waits or runs it is that one.

    Raises:
        NotAllowed: `queries.role`. RuleViolation: `queries.off`, the lake keeps no queries.
    """
    if not user.is_lake_staff_of(lake):
        raise NotAllowed("queries.role", "Only an admin or operator starts the analysis; ask one.")
    if not keeps_queries(lake):
        raise RuleViolation(
            "queries.off",
            f"The lake {lake} keeps no queries: name a table in `recorded_queries` of lakes.json.",
        )
    under_way = Run.objects.filter(lake=lake, kind=TOP_KIND, finished_at=None).first()
    return under_way or run_request(
        TOP_KIND, lake=lake, params={}, requested_by=user.username, now=now
    )


def analysis_ingest(run: Run, manifest: Mapping[str, Any]) -> None:
    """Put what an analysis found in the place of what the one before it found; twice is the same.

    What the run itself keeps of it is a number.
    """
    if manifest.get("outcome") != "done":
        return
    result = manifest["result"]
    if "shapes" not in result:
        return
    shapes = result.pop("shapes")
    with transaction.atomic():
        TopShape.objects.filter(lake=run.lake).delete()
        for one in shapes:
            row = _row(run.lake, one, at=datetime.fromisoformat(result["now"]))
            _tables(row, one["tables"])
    result["n_shapes"] = len(shapes)


def _row(lake: str, said: Mapping[str, Any], *, at: datetime) -> TopShape:
    return TopShape.objects.create(
        lake=lake,
        digest=said["shape"],
        is_helped=is_helped(said["share"]),
        last_at=datetime.fromisoformat(said["last_at"]),
        analysed_at=at,
        **{name: said[name] for name in _FIELDS},
    )


def _tables(row: TopShape, tables: Iterable[Mapping[str, str]]) -> None:
    TopShapeTable.objects.bulk_create(
        [
            TopShapeTable(shape=row, db=fitted(one["db"], 128), table=fitted(one["table"], 512))
            for one in tables
        ],
        batch_size=500,
    )
