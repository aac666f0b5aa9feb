"""Reads the tasks of tables, their reasons and their results."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import reduce
from operator import or_
from typing import Any
from uuid import UUID

import django_filters as filters
from django.db.models import Q, QuerySet

from optimizer.core.domain.tasks import TaskState
from optimizer.core.models import TABLE_FIELDS, MaintainedTable, OptimizeTask, table_models
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.frame.states import badge_for
from portal.ui.lists.filters import ListFilter, prefix

TASK_ORDERS = {"-noted": ("-created_at",), "noted": ("created_at",)}
MARKED = 50
"""How many tasks the pictures of a table mark."""
FORMATS = [("iceberg", "Iceberg"), ("hudi", "Hudi")]


def name_of(field: str, label: str) -> filters.CharFilter:
    """Return a filter by the beginning of a name of a table of either format."""
    found = prefix(field, label)
    found.method = "filter_name"
    return found


def state_choices() -> list[tuple[str, str]]:
    """Return the states of a task in words, for lists of choices."""
    return [(state.value, badge_for(f"TASK_{state}").word) for state in TaskState]


def kind_choices(kinds: Iterable[str] | None = None) -> list[tuple[str, str]]:
    """Give kinds of work in words, for lists of choices; without an argument all that there are."""
    wanted = task_kinds() if kinds is None else kinds
    return [(kind, badge_for(f"WORK_{kind}").word) for kind in wanted]


def task_kinds() -> list[str]:
    """Return the kinds of work on tables of every format."""
    return [kind for table in table_models() for kind in table.task_kinds]


def listed_kinds() -> list[str]:
    """Return the kinds that act on lists, of every format."""
    return [kind for table in table_models() for kind in table.listed_kinds]


class TaskFilter(ListFilter):
    """Tasks of one table by state and kind; each format gives the choices of its own kinds."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")

    class Meta:
        model = OptimizeTask
        fields: list[str] = []


def kind_filter(table: type[MaintainedTable]) -> filters.ChoiceFilter:
    """Return a filter by the kinds of work that tables of one format have."""
    return filters.ChoiceFilter(
        choices=lambda: kind_choices(table.task_kinds), label="Work", empty_label="Any"
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
        return rows.filter(**{f"{TABLE_FIELDS[value]}__isnull": False})

    def filter_name(self, rows: QuerySet[Any], name: str, value: str) -> QuerySet[Any]:
        """Keep tables whose name begins so, or whose database's does."""
        return rows.filter(_any_of({f"{name}__startswith": value}))


def tasks_of(table: MaintainedTable) -> QuerySet[OptimizeTask]:
    """Return the tasks of one table, unordered."""
    return table.tasks.all()


def tasks_done(table: MaintainedTable, *, since: datetime) -> list[tuple[datetime, str]]:
    """Return when the latest tasks that changed a table ended, and what they did, oldest first."""
    done = table.tasks.filter(state__in=(TaskState.DONE, TaskState.PARTIAL), ended_at__gte=since)
    rows = done.order_by("-ended_at").values_list("ended_at", "kind")[:MARKED]
    names = dict(kind_choices(table.task_kinds))
    return [(at, names.get(kind, kind)) for at, kind in reversed(rows) if at is not None]


def tasks_visible(lake: str, user: User) -> QuerySet[OptimizeTask]:
    """Return the tasks on the tables of a lake that the person may see, unordered."""
    mine = of_lake(lake) & of_either(user)
    return (
        OptimizeTask.objects.filter(mine)
        .select_related(*TABLE_FIELDS.values())
        .defer(
            *(
                f"{TABLE_FIELDS[table.table_format]}__{column}"
                for table in table_models()
                for column in table.not_shown
            )
        )
    )


def of_lake(lake: str) -> Q:
    """Return the condition for rows that are of a lake's tables, of whichever format."""
    return _any_of({"lake": lake})


def of_either(user: User) -> Q:
    """Return the condition for rows of tables that a person may see, of whichever format."""
    mine = (visible_to(user, prefix=f"{field}__") for field in TABLE_FIELDS.values())
    return reduce(or_, mine)


def _any_of(wanted: Mapping[str, str]) -> Q:
    """Return the condition that the table of a row, of whichever format, is so."""
    return reduce(
        or_,
        (
            Q(**{f"{field}__{name}": value for name, value in wanted.items()})
            for field in TABLE_FIELDS.values()
        ),
    )


def get_task_for_user(task_id: int, user: User) -> OptimizeTask:
    """Return one task with its table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = OptimizeTask.objects.filter(of_either(user), pk=task_id)
    found = rows.select_related(*TABLE_FIELDS.values()).first()
    if found is None:
        raise NotVisible("optimizer.task", "There is no such task for you.", task=task_id)
    return found


def runs_by_id(ids: Iterable[UUID | None]) -> dict[UUID, Run]:
    """Return the runs of tasks that the caller may see, in one question."""
    return Run.objects.in_bulk({one for one in ids if one is not None})


def open_tasks_of(table: MaintainedTable) -> list[OptimizeTask]:
    """Return what is not ended of a table; at most one task a kind."""
    return list(tasks_of(table).filter(is_open=True).order_by("kind"))


def requesters_of_runs(runs: Sequence[Run]) -> dict[UUID, list[str]]:
    """Return the people whose tasks runs have done or do, by the run's id; one query."""
    asked = OptimizeTask.objects.filter(run__in=[run.pk for run in runs]).exclude(requested_by="")
    found: dict[UUID, list[str]] = {}
    for run, name in asked.order_by().values_list("run", "requested_by").distinct():
        if run is not None:
            found.setdefault(run, []).append(name)
    return found


@dataclass(frozen=True)
class Running:
    """A task in a run, and the run where it is still known."""

    task: OptimizeTask
    run: Run | None
