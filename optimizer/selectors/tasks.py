"""Which work was there on tables, why, and what came of it?"""

from collections.abc import Iterable
from uuid import UUID

import django_filters as filters
from django.db.models import Q, QuerySet

from optimizer.domain.tasks import TaskKind, TaskState
from optimizer.models import IcebergTable, OptimizeTask
from portal.access.models import User
from portal.access.visibility import visible_to
from portal.lake.errors import NotVisible
from portal.runs.models import Run
from portal.ui.filters import ListFilter
from portal.ui.states import look_of

TASK_ORDERS = {"-noted": ("-noted_at",), "noted": ("noted_at",)}


def state_choices() -> list[tuple[str, str]]:
    """Give the states of a task in words, for lists of choices."""
    return [(state.value, look_of(f"TASK_{state}").word) for state in TaskState]


def kind_choices() -> list[tuple[str, str]]:
    """Give the kinds of work in words, for lists of choices."""
    return [(kind.value, look_of(f"WORK_{kind}").word) for kind in TaskKind]


class TaskFilter(ListFilter):
    """Tasks by state and kind."""

    state = filters.ChoiceFilter(choices=state_choices, label="State", empty_label="Any")
    kind = filters.ChoiceFilter(choices=kind_choices, label="Work", empty_label="Any")

    class Meta:
        model = OptimizeTask
        fields: list[str] = []


def tasks_of(table: IcebergTable) -> QuerySet[OptimizeTask]:
    """Give the tasks of one table, unordered."""
    return table.tasks.all()


def tasks_visible(lake: str, user: User) -> QuerySet[OptimizeTask]:
    """Give the tasks on the tables of a lake that the person may see, unordered."""
    mine = Q(table__lake=lake) & visible_to(user, prefix="table__")
    return OptimizeTask.objects.filter(mine).select_related("table")


def get_task_for_user(task_id: int, user: User) -> OptimizeTask:
    """Give one task with its table, whatever its lake.

    Raises:
        NotVisible: there is none for this person.
    """
    rows = OptimizeTask.objects.filter(visible_to(user, prefix="table__"), pk=task_id)
    found = rows.select_related("table").first()
    if found is None:
        raise NotVisible("optimizer.task", "There is no such task for you.", task=task_id)
    return found


def runs_by_id(ids: Iterable[UUID | None]) -> dict[UUID, Run]:
    """Give the runs of tasks that the caller may see, in one question."""
    return Run.objects.in_bulk({one for one in ids if one is not None})


def open_tasks_of(table: IcebergTable) -> list[OptimizeTask]:
    """Give what is not ended of a table; at most one task a kind."""
    return list(tasks_of(table).filter(is_open=True).order_by("kind"))
