"""Places a legal hold on something that really exists."""

from dataclasses import dataclass
from datetime import datetime

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.models import Hold
from lifecycle.backup.services.holds import hold_place
from lifecycle.inventory.selectors.findings import (
    get_database_for_user,
    get_item_for_user,
    get_table_for_user,
)
from portal.access.models import User


@dataclass(frozen=True)
class HoldParams:
    """What is to be held: a database, a table (`table` given) or one partition of it."""

    lake: str
    db: str
    table: str
    partition: str
    until: datetime | None
    reason: str


def legal_hold_place(wish: HoldParams, *, user: User, now: datetime) -> Hold:
    """Place a legal hold; called twice, two holds stand beside each other.

    A name that the last scan does not know is refused: a typing mistake would hold nothing.

    Raises:
        NotVisible: nothing of that name is there.
        NotAllowed: the person is no admin.
    """
    if wish.partition:
        get_item_for_user(wish.lake, wish.db, wish.table, wish.partition, user=user)
    elif wish.table:
        get_table_for_user(wish.lake, wish.db, wish.table, user=user)
    else:
        get_database_for_user(wish.lake, wish.db, user=user)
    return hold_place(
        lake=wish.lake,
        name=(wish.db, wish.table, wish.partition),
        kind=HoldKind.LEGAL,
        until=wish.until,
        reason=wish.reason,
        user=user,
        now=now,
    )
