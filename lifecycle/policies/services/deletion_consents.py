"""Lets owners approve the drop of recently read data, until a date, and take that back.

The table's owner says it. Where the owner has left or is nobody's name, the owner of the database
does, and where that one is gone too, those who administer it. An admin never says it for them.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from uuid import UUID

from django.db import transaction

from lifecycle.core.services.people import People
from lifecycle.drop.domain.refusal import Name
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.dropped import check_not_dropped
from lifecycle.inventory.selectors.findings import get_item_for_user, get_table_for_user
from lifecycle.models import DeletionConsent, DeletionRequest, TableFinding
from lifecycle.planning.selectors.inputs import open_requests
from lifecycle.policies.selectors.deletion_consents import get_yes_for_user
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_reason

MOST_DAYS = 30


@dataclass(frozen=True, slots=True)
class ConsentParams:
    """What may go although it was read lately: a table (`partition` empty) or one partition."""

    db: str
    table: str
    partition: str
    until: date
    reason: str


def sayers(found: TableFinding, people: People) -> tuple[str, ...]:
    """Return whose yes counts for a table: the first of its owners who can still be asked."""
    for names in (
        people.behind(found.owner),
        people.behind(found.db_owner),
        people.administrators.get(found.db, ()),
    ):
        known = tuple(name for name in names if name in people.addresses)
        if known:
            return known
    return ()


def may_say_yes(found: TableFinding, user: User, *, people: People | None = None) -> bool:
    """Whether a person's yes counts for a table of the current picture.

    `people` are those of the lake where the caller has read them already.
    """
    return user.username in sayers(found, people or People.of(found.lake))


@transaction.atomic
def deletion_consent_give(
    lake: str, wish: ConsentParams, *, user: User, now: datetime, people: People | None = None
) -> DeletionConsent:
    """Say that data may go although it is recently read; said again for the same it gives that yes.

    It puts nothing into a plan: an admin does, and two people approve it.

    Raises:
        NotVisible: nothing of that name for this person.
        NotAllowed: it is not this person's to say, an admin's neither.
        RuleViolation: no reason, a day out of bounds, or nothing that is recently read.
        StaleState: it was dropped since the scan.
    """
    found = get_table_for_user(lake, wish.db, wish.table, user=user)
    if not may_say_yes(found, user, people=people):
        raise NotAllowed(
            "still_read.owner",
            "Only the table's owner consents to the deletion of recently read data; where the "
            "owner has "
            "left, the owner of its database.",
        )
    check_not_dropped(found, wish.partition)
    check_reason(
        wish.reason, "still_read.reason", "Enter a reason for the deletion despite recent reads."
    )
    today = day_of(now, get_lake(lake).zone)
    if not today <= wish.until <= today + timedelta(days=MOST_DAYS):
        raise RuleViolation(
            "still_read.until",
            f"A consent is valid to a day from {today} to {today + timedelta(days=MOST_DAYS)}; "
            "it can "
            "be given again.",
        )
    _check_recently_read(found, wish.partition, user=user)
    # One at a time for a table, so that two clicks make one yes.
    TableFinding.objects.select_for_update().get(pk=found.pk)
    said = {"lake": lake, "db": wish.db, "table": wish.table, "partition": wish.partition}
    rows = DeletionConsent.objects.filter(**said, tbl_id=found.tbl_id, given_by=user.username)
    known = rows.filter(ended_at=None, until=wish.until).first()
    if known is not None:
        return known
    made = DeletionConsent.objects.create(
        **said,
        tbl_id=found.tbl_id,
        until=wish.until,
        reason=wish.reason.strip(),
        given_by=user.username,
        given_at=now,
    )
    _audit("still_read.yes", made, actor=user.username, now=now)
    return made


@transaction.atomic
def deletion_consent_withdraw(
    lake: str, yes_id: UUID | str, *, user: User, now: datetime
) -> DeletionConsent:
    """Take a yes back: who said it, who could say it now, or an admin (keeping is always safe).

    What stands in a plan already is not touched: reject the plan, or hold the data.

    Raises:
        NotVisible: no such yes for this person.
        NotAllowed: it is not theirs to take back.
        StaleState: it is over already.
    """
    found = get_yes_for_user(lake, yes_id, user=user)
    table = TableFinding.objects.current(lake).filter(tbl_id=found.tbl_id).first()
    is_theirs = found.given_by == user.username or (table is not None and may_say_yes(table, user))
    if not (is_theirs or user.is_lake_admin_of(lake)):
        raise NotAllowed(
            "still_read.end", "Only who gave it, the table's owner or an admin ends it."
        )
    today = day_of(now, get_lake(lake).zone)
    standing = DeletionConsent.objects.filter(pk=found.pk, ended_at=None, until__gte=today)
    if not standing.update(ended_at=now, ended_by=user.username):
        raise StaleState("still_read.ended", "This consent has ended already. Reload the page.")
    found.refresh_from_db()
    _audit("still_read.taken_back", found, actor=user.username, now=now)
    return found


def recently_read_names(
    lake: str, *, today: date, wishes: Iterable[DeletionRequest] | None = None
) -> list[Name]:
    """Name what may go by a yes that stands, or by a request that says so, of who may still say it.

    A table that was created again since has another id, and nobody has said yes to that one.
    `wishes` are the open ones; of a plan that is created, those that it answered.
    """
    rows = list(DeletionConsent.objects.filter(lake=lake, ended_at=None, until__gte=today))
    asked = open_requests(lake) if wishes is None else wishes
    wishes = [wish for wish in asked if wish.with_recently_read]
    if not (rows or wishes):
        return []
    people = People.of(lake)
    names = {(row.db, row.table) for row in rows} | {(one.db, one.table) for one in wishes}
    tables = TableFinding.objects.current(lake).filter(db__in={db for db, _ in names})
    found = {(one.db, one.table): one for one in tables if (one.db, one.table) in names}
    counted = []
    for row in rows:
        table = found.get((row.db, row.table))
        if table is not None and table.tbl_id == row.tbl_id:
            counted.append((row.given_by, table, row.partition))
    counted += [
        (wish.requested_by, found[wish.db, wish.table], wish.partition)
        for wish in wishes
        if (wish.db, wish.table) in found
    ]
    return [
        Name(table.db, table.table, partition)
        for person, table, partition in counted
        if person in sayers(table, people)
    ]


def _check_recently_read(found: TableFinding, partition: str, *, user: User) -> None:
    is_read = found.n_still_read > 0
    if partition:
        name = (found.lake, found.db, found.table, partition)
        _, item, within = get_item_for_user(*name, user=user)
        seen = item or within
        is_read = seen is not None and seen.cls == ExpiryClass.STILL_READ
    if not is_read:
        raise RuleViolation(
            "still_read.none", "The last scan shows nothing of it as due and recently read."
        )


def _audit(action: str, yes: DeletionConsent, *, actor: str, now: datetime) -> None:
    audit_record(
        action,
        actor=actor,
        lake=yes.lake,
        object_type="table",
        object_id=f"{yes.db}.{yes.table}",
        data={
            "partition": yes.partition,
            "until": yes.until.isoformat(),
            "reason": yes.reason,
            "given_by": yes.given_by,
            "through": "portal",
        },
        now=now,
    )
