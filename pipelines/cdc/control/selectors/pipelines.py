"""Reads of pipelines and of their tables, each with its state.

Pipelines are the business of admins and operators; for others there are none.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

import django_filters as filters
from django.db.models import Exists, OuterRef, Q, QuerySet

from pipelines.cdc.control.domain.states import (
    Desired,
    PipelineState,
    TableState,
    pipeline_state,
)
from pipelines.cdc.control.models import state_of_table
from pipelines.models import CapturedTable, Pipeline, PipelineMinute, SchemaChange
from portal.access.models import User
from portal.access.visibility import of_staffed_lakes
from portal.lake.errors import NotVisible
from portal.ui.lists.filters import ListFilter, prefix

PIPELINE_ORDERS = {"name": ("name",), "-name": ("-name",)}
TABLE_ORDERS = {"name": ("db", "table"), "-name": ("-db", "-table")}
CHANGE_ORDERS = {"-seen": ("-seen_at", "-pk"), "seen": ("seen_at", "pk")}
WAITING, REFUSED = "waiting", "refused"
SHOWN = timedelta(hours=3)


@dataclass(frozen=True, slots=True)
class PipelineRow:
    """A pipeline in a list."""

    pipeline: Pipeline
    state: PipelineState
    n_tables: int
    n_troubled: int
    """Tables that wait for a person."""
    n_quarantined: int
    data_at: datetime | None
    """Of all tables that are live: the oldest of what is newest in them."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A captured table in a list."""

    table: CapturedTable
    state: TableState

    @property
    def why(self) -> str:
        """What is wrong with it, in words; empty where nothing is."""
        return self.table.refused or self.table.problem

    @property
    def note(self) -> str:
        """What is wrong with it, or how far its full load is; empty where neither is."""
        loaded = self.share_loaded
        return self.why or (f"{loaded} read" if loaded else "")

    @property
    def share_loaded(self) -> str:
        """How much of the full load is captured, in words; empty once it is over."""
        row = self.table
        if row.loaded_at is not None or row.refused:
            return ""
        return f"{row.n_loaded:,} rows"


class PipelineFilter(ListFilter):
    """Pipelines by name, lake and whether they are paused."""

    name = prefix("name", "Name")
    desired = filters.ChoiceFilter(
        choices=[(Desired.RUNNING.value, "Running"), (Desired.PAUSED.value, "Paused")],
        label="Desired state",
        empty_label="Any",
    )


class CapturedTableFilter(ListFilter):
    """Captured tables by their database and name at the source."""

    db = prefix("db", "Database")
    table = prefix("table", "Table")


def check_lake_staff(user: User, lake: str) -> None:
    """Let admins and operators of a lake in; for others there is no such page."""
    if not user.is_lake_staff_of(lake):
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def check_some_staff(user: User) -> None:
    """Let in whoever is admin or operator of any lake: which one is said later, or by the rows."""
    if user.staffed_lakes is not None and not user.staffed_lakes:
        raise NotVisible("page.missing", "There is nothing at this address for you.")


def pipelines_for(user: User) -> QuerySet[Pipeline]:
    """Return the pipelines of the lakes that a person keeps."""
    check_some_staff(user)
    return Pipeline.objects.filter(of_staffed_lakes(user, otherwise=Q(pk__in=[])))


def get_pipeline_for_user(name: str, *, user: User) -> Pipeline:
    """Return one pipeline; NotVisible for those who keep none, and where there is none."""
    found = pipelines_for(user).filter(name=name).first()
    if found is None:
        raise NotVisible("pipeline.unknown", "There is no such pipeline.", name=name)
    return found


def get_captured_table(pipeline: Pipeline, pk: int) -> CapturedTable:
    """Return a table of a pipeline; NotVisible where it has no such one."""
    found = tables_of(pipeline).filter(pk=pk).first()
    if found is None:
        raise NotVisible("pipeline.table", "The pipeline has no such table.")
    return found


def tables_of(pipeline: Pipeline) -> QuerySet[CapturedTable]:
    """Return the tables of a pipeline, each annotated with whether a change of schema waits."""
    return _with_holds(CapturedTable.objects.filter(pipeline=pipeline).select_related("pipeline"))


def table_row(row: CapturedTable) -> TableRow:
    """Say how a table of `tables_of` is."""
    return TableRow(row, _state(row))


def pipeline_rows(pipelines: Iterable[Pipeline], *, now: datetime) -> list[PipelineRow]:
    """Say how pipelines of a page are; one more query for the tables of all of them."""
    rows = list(pipelines)
    tables: dict[int, list[CapturedTable]] = defaultdict(list)
    for table in _with_holds(CapturedTable.objects.filter(pipeline__in=rows)):
        tables[table.pipeline_id].append(table)
    return [_pipeline_row(row, tables[row.pk], now=now) for row in rows]


def schema_changes_of(table: CapturedTable) -> QuerySet[SchemaChange]:
    """Return the schemas of a table."""
    return SchemaChange.objects.filter(captured=table)


def last_minutes(pipeline: Pipeline, *, now: datetime) -> list[PipelineMinute]:
    """Return the minutes that a page draws, the oldest first."""
    return list(pipeline.minutes.filter(minute__gte=now - SHOWN).order_by("minute"))


def _pipeline_row(pipeline: Pipeline, tables: list[CapturedTable], *, now: datetime) -> PipelineRow:
    states = tuple(_state(table) for table in tables)
    bad = {TableState.FAILED, TableState.HELD, TableState.REFUSED}
    return PipelineRow(
        pipeline=pipeline,
        state=pipeline_state(pipeline.facts(states), now=now),
        n_tables=len(tables),
        n_troubled=sum(state in bad for state in states),
        n_quarantined=sum(table.n_quarantined for table in tables),
        data_at=min((table.data_at for table in tables if table.data_at), default=None),
    )


def _with_holds(rows: QuerySet[CapturedTable]) -> QuerySet[CapturedTable]:
    # What comes after a refused schema waits as well: the lake's table cannot follow.
    holding = SchemaChange.objects.filter(
        decision__in=(WAITING, REFUSED),
        captured=OuterRef("pk"),
        number__gte=OuterRef("first_schema"),
    )
    return rows.annotate(is_held=Exists(holding))


def _state(row: CapturedTable) -> TableState:
    return state_of_table(row, is_held=bool(vars(row)["is_held"]))  # annotated
