"""Lists a person's possible answers to a notice about an expiring table or partition."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta

from lifecycle.inventory.selectors.kept import SHOWN, TableKept
from lifecycle.inventory.selectors.policy import asker_of, is_written_to, table_policy
from lifecycle.models import TableFinding
from lifecycle.policies.domain.extension import Extension
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.domain.states import RequestKind
from lifecycle.policies.selectors.requests import pending_kinds
from lifecycle.policies.services.extensions import bounds, extension_offer
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.lake.clock import day_of


@dataclass(frozen=True, slots=True)
class Answers:
    """What is offered, with what each would do."""

    table: TableFinding
    partition: str
    standing: Values
    owner: str
    is_admin: bool
    is_written_to: bool
    days: int
    most_days: int
    offer: Extension | None
    is_kept: bool
    pending: frozenset[str]

    @property
    def name(self) -> str:
        """What the answers are about."""
        return f"{self.table} {self.partition}".strip()

    @property
    def may_keep_forever(self) -> bool:
        """Whether LEVEL 0 would change anything, may be written, and is not asked for already."""
        asked = RequestKind.SET in self.pending
        return self.is_written_to and self.standing.level != 0 and not asked

    @property
    def may_keep(self) -> bool:
        """Whether more days may be asked for, and are not already."""
        return self.offer is not None and RequestKind.EXTEND not in self.pending

    @property
    def may_hand_over(self) -> bool:
        """Whether another owner may be written, and none is asked already."""
        return self.is_written_to and RequestKind.HAND_OVER not in self.pending


def answers_for(
    found: TableFinding,
    partition: str,
    due_on: date | None,
    *,
    user: User,
    now: datetime,
    kept: TableKept | None = None,
) -> Answers | None:
    """Return what a person may answer; None for who neither owns the table nor is an admin.

    `kept` is what the page has read of the table, where it shows all that waits.
    """
    asker = asker_of(user, found)
    if not (asker.owns or asker.is_admin):
        return None
    allowed = bounds()
    days = allowed.offered_days
    standing = table_policy(found)
    offer = extension_offer(found, partition, due_on, days=days, now=now)
    today = day_of(now, get_lake(found.lake).zone)
    base = offer.until - timedelta(days=days) if offer else today
    return Answers(
        table=found,
        partition=partition,
        standing=standing.values,
        owner=standing.owner,
        is_admin=asker.is_admin,
        is_written_to=is_written_to(found.lake, found.db),
        days=days,
        most_days=allowed.most_days,
        offer=offer,
        is_kept=base > max(today, due_on or today),
        pending=_pending(found, partition, kept),
    )


def _pending(found: TableFinding, partition: str, kept: TableKept | None) -> frozenset[str]:
    if kept is None or len(kept.pending) == SHOWN:
        return pending_kinds(found, partition)
    return frozenset(one.kind for one in kept.pending if one.partition in {"", partition})
