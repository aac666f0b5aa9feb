"""Reads advice: what a person may see, the scans it stands on, and what became of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import django_filters as filters
from django.db.models import Max, QuerySet, Sum

from optimizer.advice.domain.filters import read_filters
from optimizer.advice.domain.served import index_for
from optimizer.advice.domain.stars.names import tables_in
from optimizer.advice.domain.states import AdviceState, TrialState
from optimizer.advice.domain.subjects import Subject
from optimizer.cubes.domain.states import CubeState
from optimizer.iceberg.indexing.domain.wanted import WantedIndex, parse_all_wanted
from optimizer.iceberg.tables.selectors.groupings import tables_seen
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import Advice, Cube, IcebergTable, ScanShape, Trial
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

SHOWN_SHAPES = 50
MOST_SHAPES = 1_000
"""Of a table that are read; those beyond planned least."""
ADVICE_ORDERS = {
    "-made": ("-made_at",),
    "-planned": ("-bytes_a_day",),
    "expected": ("expected",),
}


@dataclass(frozen=True, slots=True)
class RecordedShapes:
    """The scans of four weeks, by what they filtered, the dearest first."""

    shapes: list[dict[str, Any]]
    n_days: int


def state_choices() -> list[tuple[str, str]]:
    """Return the states with their words."""
    return [(one.value, badge_for(f"ADVICE_{one}").word) for one in AdviceState]


def trial_choices() -> list[tuple[str, str]]:
    """Return the states of trials with their words."""
    return [(one.value, badge_for(f"TRIAL_{one}").word) for one in TrialState]


class AdviceFilter(ListFilter):
    """Advice by state, trial and table."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")
    trial = filters.ChoiceFilter(
        field_name="trial_state", choices=trial_choices, label="Trial", empty_label="Any"
    )
    db = prefix("table__db", "Database")
    table = prefix("table__table", "Table")

    class Meta:
        model = Advice
        fields: list[str] = []


def advice_visible(lake: str, user: User) -> QuerySet[Advice]:
    """Return the advice on tables of a lake that the person may see."""
    seen = visible_to(user, prefix="table__")
    return Advice.objects.filter(seen, table__lake=lake).select_related("table")


def get_advice_for_user(advice_id: int, user: User) -> Advice:
    """Return one advice.

    Raises:
        NotVisible: `advice.unknown`.
    """
    seen = Advice.objects.filter(visible_to(user, prefix="table__")).select_related("table")
    found = seen.filter(pk=advice_id).first()
    if found is None:
        raise NotVisible("advice.unknown", "There is no such advice for you.", advice=advice_id)
    return found


def advice_of(row: IcebergTable) -> QuerySet[Advice]:
    """Return all advice on a table, the newest first."""
    return row.advice.select_related("table").order_by("-made_at", "-pk")


def trials_of(row: Advice) -> QuerySet[Trial]:
    """Return the trials of an advice, the newest first."""
    return row.trials.order_by("-pk")


def recorded_shapes(row: IcebergTable, *, now: datetime) -> RecordedShapes:
    """Sum the scans of four weeks up by their filters."""
    lately = row.scan_shapes.filter(day__gte=since(now)).order_by()
    summed = (
        lately.values("digest")
        .annotate(
            n_scans=Sum("n_scans"), n_files=Sum("n_files"), n_bytes=Sum("n_bytes"), one=Max("pk")
        )
        .order_by("-n_bytes", "-n_scans", "digest")[:MOST_SHAPES]
    )
    found = list(summed)
    named = dict(
        ScanShape.objects.filter(pk__in=[one["one"] for one in found]).values_list("pk", "filters")
    )
    shapes = [
        {
            "digest": one["digest"],
            "filters": named[one["one"]],
            "n_scans": one["n_scans"],
            "n_files": one["n_files"],
            "n_bytes": one["n_bytes"],
        }
        for one in found
    ]
    return RecordedShapes(shapes, lately.values("day").distinct().count())


def served_by_indexes(
    shapes: Sequence[Mapping[str, Any]], indexes: Iterable[WantedIndex]
) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Part shapes into those of which an index answers a filter already, and the others."""
    wanted = tuple(indexes)
    served: list[Mapping[str, Any]] = []
    others: list[Mapping[str, Any]] = []
    for one in shapes:
        named = read_filters(one["filters"])
        (served if any(index_for(each, wanted) for each in named) else others).append(one)
    return served, others


def planned_since(row: Advice, day: date) -> tuple[int, int]:
    """Return the scans of an advice's filters from a day on, and the bytes that they planned.

    Of advice on indexes without those that its indexes left out afterwards. Of advice on a cube
    these are the queries of its groupings, and the bytes that all scans of the table planned.
    """
    if row.subject == Subject.CUBE:
        return _grouped_since(row, day)
    digests = [one["digest"] for one in row.evidence.get("shapes", ())]
    rows = row.table.scan_shapes.filter(digest__in=digests, day__gte=day)
    total = rows.aggregate(n=Sum("n_scans"), n_bytes=Sum("n_bytes"))
    n_bytes = total["n_bytes"] or 0
    if row.subject == Subject.INDEXES:
        n_bytes = max(0, n_bytes - _dropped_since(row, day))
    return total["n"] or 0, n_bytes


def _grouped_since(row: Advice, day: date) -> tuple[int, int]:
    groupings = row.table.groupings.filter(digest__in=row.evidence["digests"], day__gte=day)
    scans = row.table.scan_filters.filter(column="", kind="", day__gte=day)
    n_bytes = scans.aggregate(n=Sum("n_bytes"))["n"] or 0
    return groupings.aggregate(n=Sum("n_queries"))["n"] or 0, n_bytes


def cube_of(row: Advice) -> Cube | None:
    """Return the cube that was defined of an advice; None where there is none, or not any more."""
    known = row.evidence.get("cube")
    return row.table.cubes.filter(pk=known, is_there=True).first() if known else None


def stopped_cube_of(row: Advice) -> Cube | None:
    """Return the cube that was defined of an advice, where somebody paused or dropped it."""
    known = row.evidence.get("cube")
    cube = row.table.cubes.filter(pk=known).first() if known else None
    return None if cube is None or cube.state == CubeState.ACTIVE else cube


def evidence_for(row: Advice, user: User) -> dict[str, Any]:
    """Return an advice's evidence without what names a table that the person may not see.

    `is_hidden` says that the definition of a cube is left out.
    """
    evidence = dict(row.evidence)
    if row.subject != Subject.CUBE:
        return evidence
    groupings = evidence.get("groupings", ())
    joined = {one["table"] for one in (evidence.get("definition") or {}).get("joins", ())}
    tried = [(one, {join["table"] for join in one["joins"]}) for one in evidence.get("tried", ())]
    named = {name for one in groupings for name in (*one["tables"], *tables_in(one["joins"]))}
    seen = tables_seen(row.table.lake, user, named.union(joined, *(tables for _, tables in tried)))
    evidence["groupings"] = [
        one if set(one["tables"]) <= seen else {**one, "shape": ""}
        for one in groupings
        if tables_in(one["joins"]) <= seen
    ]
    evidence["tried"] = [one for one, tables in tried if tables <= seen]
    evidence["is_hidden"] = not joined <= seen
    if evidence["is_hidden"]:
        evidence.pop("definition")
    return evidence


def _dropped_since(row: Advice, day: date) -> int:
    """Return the bytes that the advised columns' indexes left out of what had been planned."""
    columns = [one.column for one in parse_all_wanted(row.evidence.get("columns", ()))]
    uses = row.table.index_uses.filter(column__in=columns, day__gte=day)
    return uses.aggregate(n=Sum("n_bytes"))["n"] or 0
