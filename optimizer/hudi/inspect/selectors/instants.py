"""Reads the instants of a Hudi table's timeline, the stuck ones, and finds one by its id."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse

from optimizer.hudi.inspect.domain.facts import HudiInspection, Instant, InstantState
from optimizer.hudi.inspect.domain.timeline import stuck
from optimizer.hudi.tables.selectors.tables import hudi_of
from optimizer.models import HudiInstant
from optimizer.policies.domain.hudi_policy import HudiPolicy
from portal.access.models import User
from portal.search.registry import Hit
from portal.ui.frame.states import badge_for

STUCK = "stuck"
_TYPED = re.compile(r"([0-9]{14}|[0-9]{17})([._][0-9A-Za-z._]*)?")
"""An instant to the second or the millisecond, or the name of its file in the timeline."""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstantRow:
    """One instant; `state` is Hudi's, or that it is stuck, and then when it was last heard of."""

    instant: str
    action: str
    state: str
    requested_at: datetime
    inflight_at: datetime | None
    completed_at: datetime | None
    heartbeat_at: datetime | None
    is_archived: bool
    operation: str
    n_operations: int
    by: str
    silent_since: datetime | None = None

    @property
    def key(self) -> str:
        """What tells it from all others of its table."""
        return f"{self.instant} {self.action}"

    @property
    def is_pending(self) -> bool:
        """Whether it is not completed."""
        return self.state != InstantState.COMPLETED

    @property
    def took(self) -> float | None:
        """How many seconds it took, from its request on; None if it is not completed."""
        if self.completed_at is None:
            return None
        return max(self.completed_at - self.requested_at, timedelta()).total_seconds()


def instants_of(look: HudiInspection, policy: HudiPolicy, *, now: datetime) -> list[InstantRow]:
    """Return every instant that the look found, the newest first."""
    silent = {
        one.instant.instant: one.since for one in stuck(look, patience=policy.patience, now=now)
    }
    rows = (_row(one, silent) for one in look.instants)
    return sorted(rows, key=lambda one: one.key, reverse=True)


def n_archived(rows: Sequence[InstantRow]) -> int:
    """Count the instants that Hudi keeps in the archived timeline, as far as it was read."""
    return sum(one.is_archived for one in rows)


def _row(one: Instant, silent: Mapping[str, datetime]) -> InstantRow:
    is_stuck = one.is_pending and one.instant in silent
    return InstantRow(
        instant=one.instant,
        action=str(one.action),
        state=STUCK if is_stuck else str(one.state),
        requested_at=one.requested_at,
        inflight_at=one.inflight_at,
        completed_at=one.completed_at,
        heartbeat_at=one.heartbeat_at,
        is_archived=one.is_archived,
        operation=one.operation,
        n_operations=one.n_operations,
        by=one.by,
        silent_since=silent[one.instant] if is_stuck else None,
    )


def instants_found(user: User, lake: str, text: str, limit: int) -> list[Hit]:
    """Find instants by their ids, of tables that the person may see; a source of the search.

    They are those of the timeline as each table was inspected last.
    """
    typed = _TYPED.fullmatch(text.strip())
    if not typed:
        return []
    rows = HudiInstant.objects.filter(instant=typed[1], table__in=hudi_of(lake, user))
    query = urlencode({"lake": lake, "instant": typed[1]})
    return [
        Hit(
            f"Instant {row.instant}",
            f"{_timeline_path(row)}?{query}",
            f"{row.table}, {row.action}, {badge_for(f'INSTANT_{row.state}').word}",
        )
        for row in rows.select_related("table").order_by("table__db", "table__table")[:limit]
    ]


def _timeline_path(row: HudiInstant) -> str:
    if row.table.is_deleted:
        return reverse("optimizer:hudi-timeline", args=[row.table_id])
    return reverse("ui:table-part", args=[row.table.db, row.table.table, "files", "timeline"])
