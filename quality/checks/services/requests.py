"""Asks for measurements, and says what the program that measures has to do."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import QuerySet

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation
from portal.lake.names import PartitionName, TableName
from portal.runs.models import Run
from portal.runs.requests.services import run_request
from quality.checks.domain.messages import Request, Task, Window, format_of
from quality.checks.domain.plan import metrics_of
from quality.checks.domain.rules import CheckSet as Document
from quality.checks.services.declaring import next_time
from quality.checks.services.earlier import earlier_of
from quality.checks.services.other_tables import check_others, databases_of
from quality.checks.services.problems import unmeasured_note
from quality.checks.services.samples import sampled_metrics
from quality.models import CheckSet, ExpectedPartition, FreshnessStatus
from quality.ready_flag.services.tables import keys_of, owner_of

KIND = "quality.check"
SCHEDULE = "schedule"
MOST_SETS = 200
MOST_WINDOWS = 100
_MOST_OPEN = 10
_NEWEST = 3
"""Windows that are measured besides those that wait to become ready."""


def check_request(row: CheckSet, *, windows: Sequence[str] = (), by: str, now: datetime) -> Run:
    """Ask for the measurement of one table now: of some windows, or of those that are due.

    While one of the table waits or runs that one is returned.

    Raises:
        RuleViolation: `checks.windows`, too many are named; `checks.running`, ten of the table
            wait or run already.
    """
    if len(windows) > MOST_WINDOWS:
        raise RuleViolation("checks.windows", f"Name at most {MOST_WINDOWS} windows.")
    with transaction.atomic():
        known = CheckSet.objects.select_for_update().get(pk=row.pk)
        if not windows and (running := open_run_of(known)) is not None:
            return running
        if windows and _open_runs(known).count() >= _MOST_OPEN:
            raise RuleViolation(
                "checks.running",
                f"{_MOST_OPEN} measurements of {known} wait or run; name windows once one ended.",
            )
        return _request(
            known.lake, [known.pk], windows, by=by, subject=("table", str(known)), now=now
        )


def open_run_of(row: CheckSet) -> Run | None:
    """Return the measurement that somebody asked for of a table, and that has not ended."""
    return _open_runs(row).first()


def _open_runs(row: CheckSet) -> QuerySet[Run]:
    rows = Run.objects.filter(lake=row.lake, kind=KIND, finished_at=None)
    return rows.filter(subject_type="table", subject_id=str(row))


def checks_due(lake: str, *, now: datetime) -> int:
    """Ask for one run of all sets that are due; returns how many they are.

    While one by schedule waits or runs, what is due stays so.
    """
    if Run.objects.filter(lake=lake, kind=KIND, requested_by=SCHEDULE, finished_at=None).exists():
        return 0
    with transaction.atomic():
        due = CheckSet.objects.select_for_update().filter(
            lake=lake, is_paused=False, next_at__lte=now
        )
        rows = list(due.order_by("next_at", "pk")[:MOST_SETS])
        if not rows:
            return 0
        for row in rows:
            row.next_at = next_time(row, now=now)
        CheckSet.objects.bulk_update(rows, ["next_at"], batch_size=200)
        _request(lake, [row.pk for row in rows], (), by=SCHEDULE, subject=("", ""), now=now)
    return len(rows)


def request_of(run: Run) -> dict[str, Any]:
    """Return the request of a run as plain values; a table that cannot be measured is left out.

    Why it cannot stands at its set.

    Raises:
        ExternalFailure: the metastore does not answer.
    """
    rows = CheckSet.objects.filter(lake=run.lake, pk__in=run.params["sets"]).order_by("pk")
    tasks = []
    with Metastore.connect(get_lake(run.lake)) as metastore:
        for row in rows:
            try:
                tasks.append(_task(row, metastore, run.params.get("windows") or ()))
            except ExternalFailure:
                raise
            except PortalError as error:
                # What was measured before lets no period become ready meanwhile.
                unmeasured_note(row.pk, error.message, at=run.queued_at)
    plain: dict[str, Any] = msgspec.to_builtins(Request(tuple(tasks)))
    return plain


def _task(row: CheckSet, metastore: Metastore, asked: Sequence[str]) -> Task:
    struct = metastore.table_or_none(row.hive)
    if struct is None:
        raise RuleViolation("checks.table", "The metastore has the table no more.")
    checks = row.checks
    if databases_of(checks):
        check_others(metastore, row.hive.lake, checks.rules, user=author(row.set_by))
    owner = owner_of(struct)
    if owner != row.owner:
        CheckSet.objects.filter(pk=row.pk).update(owner=owner)
        row.samples.all().delete()  # rows of what somebody else owned, or of another table
    windows = [""]
    if checks.partition_key:
        windows = list(asked) or _windows(row, checks.partition_key, struct, metastore)
    task = task_of(row.pk, row.hive, struct, checks, windows)
    # Who names windows has them read whole.
    earlier = None if asked or task.format == "hive" else earlier_of(row, windows)
    return msgspec.structs.replace(
        task, sample=sampled_metrics(row), earlier=earlier, touched=earlier is not None
    )


def task_of(
    number: int, hive: TableName, struct: Any, checks: Document, windows: Sequence[str]
) -> Task:
    """Return what the program does for the rules of a table, which the metastore has as `struct`.

    Raises:
        RuleViolation: `checks.windows`, there are none.
    """
    if not windows:
        raise RuleViolation("checks.windows", "No window of it is there to be measured.")
    return Task(
        id=number,
        db=hive.db,
        table=hive.table,
        format=format_of(struct),
        metrics=metrics_of(checks.rules),
        location=str(struct.sd.location or "") if struct.sd else "",
        partition_key=checks.partition_key,
        windows=tuple(Window(one) for one in windows),
        databases=databases_of(checks),
    )


def author(username: str) -> User:
    """Return who set rules that read other tables.

    Raises:
        RuleViolation: `checks.author`, there is no such account any more.
    """
    found = User.objects.filter(username=username, is_active=True).first()
    if found is None:
        raise RuleViolation(
            "checks.author",
            f"Its rules read other tables, and {username}, who set them, has no account any "
            "more. Set them again.",
        )
    return found


def _windows(row: CheckSet, key: str, struct: Any, metastore: Metastore) -> list[str]:
    """Return the windows that are due: of periods that wait, and the newest of the metastore."""
    waiting = ExpectedPartition.objects.filter(
        rule__lake=row.lake,
        rule__db=row.db,
        rule__table=row.table,
        standing=FreshnessStatus.UNREADY,
        is_given_up=False,
    )
    specs = waiting.order_by("-start").values_list("spec", flat=True)[:MOST_WINDOWS]
    found = [window_of(spec, key) for spec in specs]
    found += newest_windows(row.hive, key, struct, metastore, most=_NEWEST)
    return list(dict.fromkeys(filter(None, found)))[:MOST_WINDOWS]


def newest_windows(
    hive: TableName, key: str, struct: Any, metastore: Metastore, *, most: int
) -> list[str]:
    """Return the newest values of a key that the metastore has; of other tables the last days."""
    if key in keys_of(struct):
        listed = {window_of(name, key) for name in metastore.partition_names(hive)}
        return sorted(filter(None, listed), reverse=True)[:most]
    # Only Hive tables have their partitions in the metastore.
    today = datetime.now(get_lake(str(hive.lake)).zone).date()
    return [str(today - timedelta(days=n)) for n in range(1, most + 1)]


def window_of(spec: str, key: str) -> str:
    """Return a key's value in the name of a partition; empty: the name does not have the key."""
    try:
        name = PartitionName.parse(spec)
    except PortalError:
        return ""
    return dict(zip(name.keys, name.values, strict=True)).get(key) or ""


def _request(
    lake: str,
    sets: list[int],
    windows: Sequence[str],
    *,
    by: str,
    subject: tuple[str, str],
    now: datetime,
) -> Run:
    return run_request(
        KIND,
        lake=lake,
        params={"sets": sets, "windows": list(windows)},
        requested_by=by,
        subject=subject,
        now=now,
    )
