"""Reads the tasks of tables, their reasons and their results."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import Q, QuerySet

from optimizer.core.domain.tasks import TaskKind, TaskState
from optimizer.hudi.maintenance.domain.tasks import TASKS
from optimizer.models import HudiTable, IcebergTable, OptimizeTask
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.frame.states import look_of
from portal.ui.lists.filters import ListFilter, prefix

TASK_ORDERS = {"-noted": ("-noted_at",), "noted": ("noted_at",)}
FORMATS = [("iceberg", "Iceberg"), ("hudi", "Hudi")]
# What a look at a Hudi table found is wide, and no list of tasks shows it.
_NOT_SHOWN = ("hudi__findings", "hudi__deductions", "hudi__verdicts", "hudi__verdict")


def name_of(field: str, label: str) -> filters.CharFilter:
    """Return a filter by the beginning of a name of a table of either format."""
    found = prefix(field, label)
    found.method = "filter_name"
    return found


def state_choices() -> list[tuple[str, str]]:
    """Return the states of a task in words, for lists of choices."""
    return [(state.value, look_of(f"TASK_{state}").word) for state in TaskState]


def kind_choices(kinds: Iterable[str] = (*TaskKind, *TASKS)) -> list[tuple[str, str]]:
    """Give kinds of work in words, for lists of choices; without an argument all that there are."""
    return [(str(kind), look_of(f"WORK_{kind}").word) for kind in kinds]


class TaskFilter(ListFilter):
    """Tasks of an Iceberg table by state and kind."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")
    kind = filters.ChoiceFilter(
        choices=lambda: kind_choices(TaskKind), label="Work", empty_label="Any"
    )

    class Meta:
        model = OptimizeTask
        fields: list[str] = []


class HudiTaskFilter(TaskFilter):
    """Tasks of a Hudi table by state and kind."""

    kind = filters.ChoiceFilter(
        choices=lambda: kind_choices(TASKS), label="Work", empty_label="Any"
    )


class FormatFilter(ListFilter):
    """Rows of tables of either format, by the format and the table's name."""

    # `format=csv` in an address asks for the CSV.
    table_format = filters.ChoiceFilter(
        choices=FORMATS, label="Format", empty_label="Any", method="filter_format"
    )
    db = name_of("db", "Database")
    table = name_of("table", "Table")

    def filter_format(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep the tables of one format."""
        return rows.filter(hudi__isnull=value != "hudi")

    def filter_name(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables whose name begins so, or whose database's does."""
        return rows.filter(
            Q(**{f"table__{name}__startswith": value}) | Q(**{f"hudi__{name}__startswith": value})
        )


def tasks_of(table: IcebergTable | HudiTable) -> QuerySet[OptimizeTask]:
    """Return the tasks of one table, unordered."""
    return table.tasks.all()


def tasks_visible(lake: str, user: User) -> QuerySet[OptimizeTask]:
    """Return the tasks on the tables of a lake that the person may see, unordered."""
    mine = of_lake(lake) & of_either(user)
    return OptimizeTask.objects.filter(mine).select_related("table", "hudi").defer(*_NOT_SHOWN)


def of_lake(lake: str) -> Q:
    """Return the condition for rows that are of a lake's tables, of whichever format."""
    return Q(table__lake=lake) | Q(hudi__lake=lake)


def of_either(user: User) -> Q:
    """Return the condition for rows of tables that a person may see, of whichever format."""
    return visible_to(user, prefix="table__") | visible_to(user, prefix="hudi__")


def get_task_for_user(task_id: int, user: User) -> OptimizeTask:
    """Return one task with its table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = OptimizeTask.objects.filter(of_either(user), pk=task_id)
    found = rows.select_related("table", "hudi").first()
    if found is None:
        raise NotVisible("optimizer.task", "There is no such task for you.", task=task_id)
    return found


def runs_by_id(ids: Iterable[UUID | None]) -> dict[UUID, Run]:
    """Return the runs of tasks that the caller may see, in one question."""
    return Run.objects.in_bulk({one for one in ids if one is not None})


def open_tasks_of(table: IcebergTable | HudiTable) -> list[OptimizeTask]:
    """Return what is not ended of a table; at most one task a kind."""
    return list(tasks_of(table).filter(is_open=True).order_by("kind"))


def requesters_of_runs(runs: Sequence[Run]) -> dict[UUID, list[str]]:
    """Return the people whose tasks runs have done or do, by the run's id; one query."""
    asked = OptimizeTask.objects.filter(run__in=[run.pk for run in runs]).exclude(asked_by="")
    found: dict[UUID, list[str]] = {}
    for run, name in asked.order_by().values_list("run", "asked_by").distinct():
        if run is not None:
            found.setdefault(run, []).append(name)
    return found


@dataclass(frozen=True)
class Running:
    """A task in a run, and the run where it is still known."""

    task: OptimizeTask
    run: Run | None
