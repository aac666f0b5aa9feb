"""Extends the time that an owner keeps data, and decides what an admin must approve.

An extension is a hold with an end: nothing of the table or partition is planned, dropped or purged
until then. It writes nothing to the lake, so that it ends by itself and never re-dates other data.
"""

from dataclasses import dataclass
from datetime import date, datetime, time

from django.conf import settings
from django.db import transaction

from lifecycle.backup.domain.states import HoldKind
from lifecycle.backup.selectors import holds_active
from lifecycle.backup.services.holds import hold_place
from lifecycle.expiry.domain.rule import ExpiryClass
from lifecycle.inventory.selectors.dropped import check_not_dropped, dropped_at
from lifecycle.inventory.selectors.findings import get_item_for_user, get_table_for_user
from lifecycle.inventory.selectors.policy import asker_of
from lifecycle.models import PolicyRequest, TableFinding
from lifecycle.policies.domain.extension import Bounds, Extension, Granted, base_day, extend
from lifecycle.policies.domain.states import RequestKind, RequestState
from lifecycle.policies.services.requests import request_move, request_open
from portal.access.lakes import get_lake
from portal.access.models import User
from portal.approvals.models import Approval
from portal.approvals.selectors import approvers
from portal.approvals.services import approval_use
from portal.lake.clock import day_of
from portal.lake.errors import NotAllowed, PortalError, RuleViolation, StaleState
from portal.lake.reasons import check_reason

PUT_OFF = (ExpiryClass.CLEAN_NOW, ExpiryClass.SOON, ExpiryClass.STILL_READ, ExpiryClass.UNKNOWN)


@dataclass(frozen=True, slots=True)
class ExtensionParams:
    """Data that shall stay `days` more; `until` is the day that the page said it leads to.

    None where no page said one: then nobody may have extended it since `seen_at`.
    """

    db: str
    table: str
    partition: str
    days: int
    until: date | None
    reason: str
    seen_at: datetime | None = None


def bounds() -> Bounds:
    """Return what this deployment allows."""
    return Bounds(
        offered_days=settings.LAKEWARDEN_EXTENSION_DAYS,
        most_days=settings.LAKEWARDEN_EXTENSION_MOST_DAYS,
    )


def near_due_on(found: TableFinding) -> date | None:
    """Return the day on which a table first falls due; None where nothing is due or due soon."""
    is_near = found.n_clean_now or found.n_soon or found.n_still_read
    return found.next_due_on if is_near else None


def put_off_from(
    lake: str, name: tuple[str, str, str], *, user: User
) -> tuple[TableFinding, date | None]:
    """Return the table of (db, table, partition or ''), and the day on which it first falls due.

    None where nothing of it is due or due soon, or all of that was dropped since the scan.

    Raises:
        NotVisible: nothing of that name for this person.
    """
    db, table, partition = name
    if not partition:
        found = get_table_for_user(lake, db, table, user=user)
        due_on = None if dropped_at(found, "") else near_due_on(found)
        return found, due_on
    found, item, within = get_item_for_user(lake, db, table, partition, user=user)
    cls, due_on = (item.cls, item.due_on) if item else (None, None)
    if within is not None:
        cls, due_on = within.cls, within.due_first
    is_due = cls in PUT_OFF and dropped_at(found, partition) is None
    return found, due_on if is_due else None


def extension_offer(
    found: TableFinding, partition: str, due_on: date | None, *, days: int, now: datetime
) -> Extension | None:
    """Say what `days` more would mean for a table or partition; None where nothing is due."""
    try:
        return _terms(found, partition, due_on, days=days, now=now)
    except RuleViolation:
        return None


def extension_request(
    lake: str, wish: ExtensionParams, *, user: User, now: datetime
) -> PolicyRequest:
    """Keep data some days more: at once within the bounds, else when one admin agrees.

    Asked twice from the same page the second is StaleState, so that nobody extends twice unawares.

    Raises:
        NotVisible: nothing of that name for this person.
        NotAllowed: neither an owner of it nor an admin.
        RuleViolation: no reason, nothing due, or an odd number of days.
        StaleState: the page said another day than what it would lead to now, or it was dropped
            since the scan.
    """
    check_reason(wish.reason, "policy.reason", "Enter a reason; approvers read it.")
    found, due_on = put_off_from(lake, (wish.db, wish.table, wish.partition), user=user)
    asker = asker_of(user, found)
    if not (asker.is_admin or asker.owns):
        raise NotAllowed("policy.role", "Only an owner of the table or an admin keeps it longer.")
    check_not_dropped(found, wish.partition)
    with transaction.atomic():
        # One at a time for a table: two at once would each see the same days left.
        TableFinding.objects.select_for_update().get(pk=found.pk)
        offer = _terms(found, wish.partition, due_on, days=wish.days, now=now)
        _check_until(wish, offer)
        _check_not_extended(found, wish)
        request = PolicyRequest(
            lake=lake,
            kind=RequestKind.EXTEND,
            db=wish.db,
            table=wish.table,
            partition=wish.partition,
            tbl_id=found.tbl_id,
            days=wish.days,
            until=offer.until,
            # What an admin grants does not use up the days that owners have.
            needs_admin=offer.needs_admin or asker.is_admin,
            reason=wish.reason.strip(),
            requested_by=user.username,
            created_at=now,
        )
        waits = offer.needs_admin and not asker.is_admin
        opened = request_open(request, ask_admin=waits, now=now)
        if not waits:
            _grant(opened, user=user, by=user.username, now=now)
    return opened


def extension_approved(request: PolicyRequest, approval: Approval, now: datetime) -> None:
    """Follow an admin's yes: place the hold (called in the deciding transaction)."""
    user = User.objects.get(username=request.requested_by)
    _grant(request, user=user, by=", ".join(approvers(approval)), now=now)
    approval_use(approval.pk, run_id=str(request.pk), now=now)


def _terms(
    found: TableFinding, partition: str, due_on: date | None, *, days: int, now: datetime
) -> Extension:
    today = day_of(now, get_lake(found.lake).zone)
    held_until = _held_until(found, partition, now=now)
    return extend(
        partition,
        days,
        base=base_day(today=today, due_on=due_on, held_until=held_until),
        granted=_granted(found),
        today=today,
        bounds=bounds(),
    )


def _check_until(wish: ExtensionParams, offer: Extension) -> None:
    if wish.until is not None and offer.until != wish.until:
        raise StaleState(
            "extension.stale",
            f"{wish.days} days more lead to {offer.until} by now; your page said {wish.until}. "
            "Somebody extended it, or a new scan came. Reload the page.",
        )


def _check_not_extended(found: TableFinding, wish: ExtensionParams) -> None:
    """Refuse a second extension from one list, also where both were sent at once."""
    if wish.seen_at is None:
        return
    since = PolicyRequest.objects.filter(
        lake=found.lake,
        db=found.db,
        table=found.table,
        partition=wish.partition,
        kind=RequestKind.EXTEND,
        created_at__gt=wish.seen_at,
        state__in=[RequestState.PENDING, RequestState.DONE],
    )
    if (other := since.order_by("-created_at").first()) is not None:
        raise StaleState(
            "extension.stale",
            f"{other.requested_by} kept it until {other.until} meanwhile. Reload the list.",
        )


def _granted(found: TableFinding) -> list[Granted]:
    """Return what was granted for this table and its partitions without an admin."""
    rows = PolicyRequest.objects.filter(
        lake=found.lake,
        kind=RequestKind.EXTEND,
        state=RequestState.DONE,
        tbl_id=found.tbl_id,
        needs_admin=False,
        days__isnull=False,
        until__isnull=False,
    )
    return [
        Granted(partition, days, until)
        for partition, days, until in rows.values_list("partition", "days", "until")
        if days is not None and until is not None
    ]


def _held_until(found: TableFinding, partition: str, *, now: datetime) -> date | None:
    """Return the last day of the extensions that stand on a table, or on it and a partition."""
    zone = get_lake(found.lake).zone
    holds = holds_active(found.lake, now=now).filter(
        kind=HoldKind.EXTENSION, db=found.db, table=found.table, until__isnull=False
    )
    named = holds.filter(partition__in={"", partition})
    days = [day_of(until, zone) for until in named.values_list("until", flat=True) if until]
    return max(days, default=None)


def _grant(request: PolicyRequest, *, user: User, by: str, now: datetime) -> None:
    """Place the hold of a request and end it as done."""
    if request.until is None:
        raise PortalError("extension.until", "The request names no day.")
    zone = get_lake(request.lake).zone
    hold = hold_place(
        lake=request.lake,
        name=(request.db, request.table, request.partition),
        kind=HoldKind.EXTENSION,
        until=datetime.combine(request.until, time.max, tzinfo=zone),
        reason=request.reason,
        user=user,
        now=now,
    )
    request_move(request, RequestState.DONE, by=by, now=now, hold=hold)
