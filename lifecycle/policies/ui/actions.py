"""Lists a person's possible answers to a notice about an expiring table or partition."""

from dataclasses import dataclass
from datetime import date, datetime

from lifecycle.inventory.selectors.policy import asker_of, is_written_to, table_policy
from lifecycle.models import TableFinding
from lifecycle.policies.domain.extension import Extension
from lifecycle.policies.domain.policy import Values
from lifecycle.policies.services.extensions import bounds, extension_offer
from portal.access.models import User


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

    @property
    def name(self) -> str:
        """What the answers are about."""
        return f"{self.table} {self.partition}".strip()

    @property
    def may_keep_forever(self) -> bool:
        """Whether LEVEL 0 would change anything, and may be written."""
        return self.is_written_to and self.standing.level != 0


def answers_for(
    found: TableFinding, partition: str, due_on: date | None, *, user: User, now: datetime
) -> Answers | None:
    """Return what a person may answer; None for who neither owns the table nor is an admin."""
    asker = asker_of(user, found)
    if not (asker.owns or asker.is_admin):
        return None
    allowed = bounds()
    days = allowed.offered_days
    standing = table_policy(found)
    return Answers(
        table=found,
        partition=partition,
        standing=standing.values,
        owner=standing.owner,
        is_admin=asker.is_admin,
        is_written_to=is_written_to(found.lake, found.db),
        days=days,
        most_days=allowed.most_days,
        offer=extension_offer(found, partition, due_on, days=days, now=now),
    )
