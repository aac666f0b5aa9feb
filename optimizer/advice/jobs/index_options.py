"""What file indexes of some columns would cost and save, from a sample of a table's files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from optimizer.advice.domain.index_advice import IndexOption
from optimizer.iceberg.access.jobs.iceberg import IcebergTable
from optimizer.iceberg.indexing.jobs.estimate import Asked, estimates
from optimizer.indexes.domain.choice.costs import Decision
from optimizer.indexes.domain.choice.kinds import Use

_POINTS = frozenset({Use.POINT})


def index_options(
    table: IcebergTable, candidates: Sequence[Mapping[str, Any]], *, n_days: int
) -> list[dict[str, Any]]:
    """Return an option for each candidate `{column, n_scans}` of so many days, in their order."""
    if not candidates:
        return []
    asked = {one["column"]: Asked(one["n_scans"] / max(1, n_days), _POINTS) for one in candidates}
    found = estimates(table, asked)
    options = {one["column"]: _option(one) for one in found["columns"]}
    for one in found["refused"]:
        options[one["column"]] = IndexOption(one["column"], refused=one["reason"].rstrip("."))
    return [asdict(options[name]) for name in asked if name in options]


def _option(said: Mapping[str, Any]) -> IndexOption:
    column, kind = str(said["column"]), str(said["kind"])
    judged = next((one for one in said["kinds"] if one["kind"] == kind), None)
    if judged is None:
        return IndexOption(column, refused=str(said["reason"]))
    if judged["decision"] == Decision.REFUSE:
        return IndexOption(column, kind, refused=str(judged["reason"]))
    figures = judged["figures"]
    return IndexOption(
        column,
        kind,
        figures["files_without"],
        figures["files_with"],
        figures["storage_bytes"],
        figures["build_seconds"],
    )
