"""Sets, pauses and deletes the rules of a table. Whoever may see the table may.

Setting the same twice changes nothing. A rule that was changed or left out loses its verdicts, and
with them their overrides; what was measured stays.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.names import TableName
from quality.checks.domain.documents import read_document, read_parsed, to_parsed
from quality.checks.domain.rules import CheckSet as Document
from quality.checks.models import EVERY_MINUTES
from quality.checks.services.followers import tell_changed
from quality.checks.services.other_tables import check_others
from quality.models import CheckSet
from quality.ready_flag.services.tables import owner_of, table_seen

LEAST_MINUTES, MOST_MINUTES = 5, 60 * 24 * 31


@dataclass(frozen=True, slots=True)
class Timing:
    """When a table is measured: every so many minutes, and soon after a commit if that is said."""

    every_minutes: int = EVERY_MINUTES
    on_commit: bool = False


ON_SCHEDULE = Timing()


def checks_set(
    lake: str,
    text: str,
    *,
    timing: Timing = ON_SCHEDULE,
    version: int | None,
    user: User,
    now: datetime,
) -> CheckSet:
    """Set the rules of the table that a YAML document names, as of `version` (None: it is new).

    Raises:
        RuleViolation: `checks.document`, `checks.rule`; `checks.every`; `checks.other_table`.
        NotVisible: no such lake or table for this person.
        StaleState: `checks.changed`, somebody else set or changed it meanwhile.
        ExternalFailure: the metastore does not answer.
    """
    document = read_document(text)
    if not LEAST_MINUTES <= timing.every_minutes <= MOST_MINUTES:
        raise RuleViolation(
            "checks.every",
            f"Measure every {LEAST_MINUTES} to {MOST_MINUTES:,} minutes.",
            field="every_minutes",
        )
    config = get_lake(lake)
    hive = TableName.parse(config.lake, document.table)
    with Metastore.connect(config) as metastore:
        struct = table_seen(metastore, hive, user=user)
        check_others(metastore, config.lake, document.rules, user=user)
    owner = owner_of(struct)
    said = {"document": to_parsed(document), **asdict(timing)}
    with transaction.atomic():
        rows = CheckSet.objects.select_for_update()
        known = rows.filter(lake=lake, db=hive.db, table=hive.table).first()
        if known is None:
            row = _made(hive, said, owner=owner, user=user, now=now)
        elif (known.checks, Timing(known.every_minutes, known.on_commit)) == (document, timing):
            return known
        elif known.version != version:
            raise _stale(known)
        else:
            row = _changed(known, document, said, user=user, now=now)
        _record("checks.set", row, said, by=user.username, now=now)
    return row


def checks_delete(row: CheckSet, *, version: int | None, user: User, now: datetime) -> None:
    """Delete a table's rules with all that was measured; deleted twice it is recorded once.

    Raises:
        StaleState: `checks.changed`.
    """
    with transaction.atomic():
        known = CheckSet.objects.select_for_update().filter(pk=row.pk).first()
        if known is None:
            return
        if known.version != version:
            raise _stale(known)
        tell_changed(known, (), by=user.username, now=now)
        _record("checks.deleted", known, {"document": known.document}, by=user.username, now=now)
        known.delete()


def checks_pause(row: CheckSet, *, paused: bool, user: User, now: datetime) -> None:
    """Stop measuring a table on schedule, or go on; the same twice changes nothing.

    A paused set still holds partitions back by what was measured last.
    """
    with transaction.atomic():
        changed = CheckSet.objects.filter(pk=row.pk, is_paused=not paused).update(
            is_paused=paused, next_at=now
        )
        if changed:
            action = "checks.paused" if paused else "checks.resumed"
            _record(action, row, {}, by=user.username, now=now)


def _made(
    hive: TableName, said: dict[str, Any], *, owner: str, user: User, now: datetime
) -> CheckSet:
    row = CheckSet(lake=str(hive.lake), db=hive.db, table=hive.table, owner=owner, **said)
    row.set_by, row.set_at, row.next_at = user.username, now, now
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError as error:
        raise _stale(row) from error
    return row


def _changed(
    row: CheckSet, document: Document, said: dict[str, Any], *, user: User, now: datetime
) -> CheckSet:
    before = {one.name: one for one in read_parsed(row.document).rules}
    same = [one.name for one in document.rules if before.get(one.name) == one]
    results = row.results.all()
    if row.checks.partition_key == document.partition_key:
        results = results.exclude(rule__in=same)
    else:
        row.measurements.update(commit="")  # their windows are other rows now
    results.delete()
    if document.samples == "off":
        row.samples.all().delete()
    for name, value in said.items():
        setattr(row, name, value)
    row.version += 1
    row.set_by, row.set_at, row.next_at = user.username, now, now
    row.save()
    tell_changed(row, [one.name for one in document.rules], by=user.username, now=now)
    return row


def next_time(row: CheckSet, *, now: datetime) -> datetime:
    """Return when a set is measured again after it was asked for at `now`."""
    return now + timedelta(minutes=row.every_minutes)


def _stale(row: CheckSet) -> StaleState:
    return StaleState(
        "checks.changed",
        f"The checks of {row} were changed since you loaded the page. Reload it, then change them.",
        table=str(row),
    )


def _record(action: str, row: CheckSet, data: dict[str, Any], *, by: str, now: datetime) -> None:
    audit_record(
        action, actor=by, lake=row.lake, object_type="table", object_id=str(row), data=data, now=now
    )
