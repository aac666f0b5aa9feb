"""Compares what a person was shown with what is there now: scans, and answers of others."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, time
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Q

from lifecycle.answers.domain import AnswerKind, Given, MailLink, Outcome
from lifecycle.inventory.models.findings import GenerationState
from lifecycle.inventory.selectors.findings import current_generation
from lifecycle.models import (
    DeletionConsent,
    DeletionRequest,
    PolicyRequest,
    ScanSnapshot,
    TableFinding,
)
from lifecycle.policies.domain.states import RequestKind, RequestState
from portal.access.lakes import get_lake
from portal.notices.models import Notice

Name = tuple[str, str]
_CHUNK = 200
_STANDS = (RequestState.PENDING, RequestState.RUNNING, RequestState.DONE)
_KINDS = {
    RequestKind.EXTEND.value: AnswerKind.KEEP,
    RequestKind.SET.value: AnswerKind.KEEP_FOREVER,
    RequestKind.HAND_OVER.value: AnswerKind.HAND_OVER,
}


def changed_since(lake: str, names: Sequence[Name], *, seen_at: datetime) -> dict[Name, str]:
    """Return the tables that are not as they were shown at an instant, with what changed.

    A table has changed when more of it is due now or soon than then, or when another table has its
    name. No row is read where no scan has come since.
    """
    current = current_generation(lake)
    shown = _shown_at(lake, seen_at)
    if current is None or (shown is not None and shown.pk >= current.pk):
        return {}
    if shown is None or shown.state != GenerationState.READY:
        return dict.fromkeys(names, "New scans came since this page was loaded. Reload it")
    before, now = _counts(shown, names), _counts(current, names)
    changed = {}
    for name in names:
        if name in now and (words := _difference(before.get(name), now[name])):
            changed[name] = words
    return changed


def answers_since(
    lake: str, *, since: datetime, name: Name | None = None
) -> dict[Name, list[Given]]:
    """Return what people answered about whole tables after an instant, the newest first."""
    only = Q(db=name[0], table=name[1]) if name else Q()
    given: defaultdict[Name, list[tuple[datetime, Given]]] = defaultdict(list)
    requests = PolicyRequest.objects.filter(only, lake=lake, partition="", state__in=_STANDS)
    for row in requests.filter(created_at__gt=since, kind__in=_KINDS).exclude(table=""):
        given[row.db, row.table].append((row.created_at, _of_request(row)))
    wishes = DeletionRequest.objects.filter(only, lake=lake, partition="", created_at__gt=since)
    for wish in wishes.exclude(state=DeletionRequest.State.CLOSED):
        words = f"{wish.requested_by} requested its deletion"
        one = Given(AnswerKind.LET_GO, wish.requested_by, words, at=wish.created_at)
        given[wish.db, wish.table].append((wish.created_at, one))
    consents = DeletionConsent.objects.filter(only, lake=lake, partition="", ended_at=None)
    for yes in consents.filter(given_at__gt=since):
        words = f"{yes.given_by} consented to its deletion until {yes.until}"
        one = Given(AnswerKind.LET_GO, yes.given_by, words, at=yes.given_at)
        given[yes.db, yes.table].append((yes.given_at, one))
    return {
        key: [one for _, one in sorted(rows, key=lambda pair: pair[0], reverse=True)]
        for key, rows in given.items()
    }


def _of_request(row: PolicyRequest) -> Given:
    waits = row.state == RequestState.PENDING
    end = f" until {row.until}" if row.kind == RequestKind.EXTEND else ""
    did = {
        RequestKind.EXTEND: "asked to keep it" if waits else "kept it",
        RequestKind.HAND_OVER: f"offered it to {row.owner}" if waits else f"gave it to {row.owner}",
        RequestKind.SET: f"asked for {row.wanted}" if waits else f"set it to {row.wanted}",
    }[RequestKind(row.kind)]
    is_other_ttl = row.kind == RequestKind.SET and row.level != 0
    return Given(
        kind=None if is_other_ttl else _KINDS[row.kind],
        by=row.requested_by,
        words=f"{row.requested_by} {did}{end}",
        outcome=Outcome.WAITING if waits else Outcome.DONE,
        days=row.days or 0,
        to=row.owner,
        until=row.until,
        request=str(row.pk),
        at=row.created_at,
    )


def _shown_at(lake: str, at: datetime) -> ScanSnapshot | None:
    """Return the scan that readers saw at an instant: the last one that had been loaded by then."""
    loaded = ScanSnapshot.objects.filter(lake=lake, run__finished_at__lte=at)
    return loaded.exclude(state=GenerationState.LOADING).order_by("-pk").first()


def _counts(generation: ScanSnapshot, names: Iterable[Name]) -> dict[Name, Any]:
    """Return id and due items of some tables of a scan; a query for every 200."""
    wanted, found = list(names), {}
    for start in range(0, len(wanted), _CHUNK):
        by_db: defaultdict[str, set[str]] = defaultdict(set)
        for db, table in wanted[start : start + _CHUNK]:
            by_db[db].add(table)
        named = reduce(or_, (Q(db=db, table__in=tables) for db, tables in by_db.items()))
        rows = TableFinding.objects.filter(named, generation=generation)
        for db, table, *counts in rows.values_list(
            "db", "table", "tbl_id", "n_clean_now", "n_still_read", "n_soon"
        ):
            found[db, table] = counts
    return found


def _difference(before: Any, now: Any) -> str:
    if before is None:
        return "It was not there when this page was loaded. Reload the page"
    if before[0] != now[0]:
        return "Another table has this name since this page was loaded. Reload the page"
    due_before, due = sum(before[1:3]), sum(now[1:3])
    all_before, near = sum(before[1:]), sum(now[1:])
    if near > all_before:
        return f"{near:,} items are due or due soon now, {all_before:,} were when this was loaded"
    if due > due_before:
        return f"{due:,} items are due now, {due_before:,} were when this page was loaded"
    return ""


def notice_written_at(link: MailLink) -> datetime:
    """Return when the notice of a link was written; the beginning of its day where it is gone."""
    rows = Notice.objects.filter(
        lake=link.lake, kind=link.notice, day=link.day, recipient=link.username
    )
    written: datetime | None = rows.values_list("queued_at", flat=True).first()
    return written or datetime.combine(link.day, time(), tzinfo=get_lake(link.lake).zone)
