"""Reads what runs now, what waits and for what, and what ended recently."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import django_filters as filters
from django.db.models import Count, QuerySet

from optimizer.core.domain.tasks import FINAL, TaskState
from optimizer.core.selectors.tasks import (
    FormatFilter,
    Running,
    kind_choices,
    runs_by_id,
    tasks_visible,
)
from optimizer.models import OptimizeTask
from portal.access.models import User
from portal.ui.frame.states import badge_for

QUEUE_ORDERS = {
    "-score": ("-score",),
    "noted": ("created_at",),
    "-noted": ("-created_at",),
}
NOT_BEGUN = (TaskState.WAITING, TaskState.HELD, TaskState.TO_APPROVE)
SHOWN_AT_MOST = 50
ENDED_SHOWN = 20
LOOK_BACK = timedelta(hours=24)


class QueueFilter(FormatFilter):
    """What waits, by why it waits, kind of work and table."""

    state = filters.ChoiceFilter(
        choices=lambda: [(one.value, badge_for(f"TASK_{one}").word) for one in NOT_BEGUN],
        label="State",
        empty_label="Any",
    )
    kind = filters.ChoiceFilter(choices=kind_choices, label="Work", empty_label="Any")

    class Meta:
        model = OptimizeTask
        fields: list[str] = []


@dataclass(frozen=True)
class QueueNow:
    """The queue at an instant."""

    n_waiting: int
    n_held: int
    n_running: int
    running: list[Running]
    ended: list[OptimizeTask]
    n_ended: dict[str, int]

    @property
    def is_busy(self) -> bool:
        """Whether anything moves."""
        return bool(self.n_running or self.n_waiting)

    @property
    def n_failed(self) -> int:
        """How many failed or were abandoned lately."""
        return sum(self.n_ended.get(one, 0) for one in (TaskState.FAILED, TaskState.ABANDONED))

    @property
    def n_done(self) -> int:
        """How many brought something lately."""
        return sum(self.n_ended.get(one, 0) for one in (TaskState.DONE, TaskState.PARTIAL))


def waiting_visible(lake: str, user: User) -> QuerySet[OptimizeTask]:
    """Return what waits or is held, of what the person may see."""
    return tasks_visible(lake, user).filter(state__in=NOT_BEGUN)


def queue_now(lake: str, user: User, *, now: datetime) -> QueueNow:
    """Return the picture of the queue; of what runs and ended only the first."""
    rows = tasks_visible(lake, user)
    lately = rows.filter(state__in=FINAL, ended_at__gte=now - LOOK_BACK)
    by_state = _counted(rows.filter(state__in=(*NOT_BEGUN, TaskState.SENT)))
    sent = list(rows.filter(state=TaskState.SENT).order_by("started_at", "pk")[:SHOWN_AT_MOST])
    runs = runs_by_id(task.run for task in sent)
    return QueueNow(
        n_waiting=by_state.get(TaskState.WAITING, 0),
        n_held=by_state.get(TaskState.HELD, 0),
        n_running=by_state.get(TaskState.SENT, 0),
        running=[Running(task, runs.get(task.run) if task.run else None) for task in sent],
        ended=list(lately.order_by("-ended_at", "-pk")[:ENDED_SHOWN]),
        n_ended=_counted(lately),
    )


def _counted(rows: QuerySet[Any]) -> dict[str, int]:
    found = rows.order_by().values("state").annotate(n=Count("pk"))
    return {row["state"]: row["n"] for row in found}
