"""Tries a draft of checks on past windows before it is saved; nothing of it counts as a result.

What is kept of earlier measurements answers at once. For the rest a person may ask for a run that
measures the newest windows; what it finds is kept beside the draft for some days.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.runs.requests.services import run_request
from portal.runs.results.json_files import json_result
from quality.checks.domain.documents import read_document, to_parsed
from quality.checks.domain.messages import MEASURED, Measured, Request, Task
from quality.checks.domain.rules import CheckSet as Document
from quality.checks.domain.trials import Tried, try_rules, unmeasured
from quality.checks.domain.windows import Reading
from quality.checks.selectors.check_sets import check_set_of_table
from quality.checks.selectors.readings import readings_of
from quality.checks.services.other_tables import check_others
from quality.checks.services.requests import author, newest_windows, task_of
from quality.models import CheckTrial
from quality.ready_flag.services.tables import owner_of, table_seen

KIND = "quality.try"
KEPT = timedelta(days=7)
MOST_WINDOWS = 30
_MOST_OPEN = 3
_BUDGET_SECONDS, _SQL_SECONDS = 900, 60
_AT_ONCE = 1_000


class Trial(msgspec.Struct, frozen=True):
    """What a draft says of past windows."""

    document: Document
    tried: tuple[Tried, ...]
    unmeasured: tuple[str, ...]
    """Metrics of which nothing was measured."""

    @property
    def n_fired(self) -> int:
        """How often its rules fail, together."""
        return sum(len(one.fired) for one in self.tried)


def checks_try(lake: str, text: str, *, user: User, now: datetime) -> Trial:
    """Judge a draft's rules by what was measured of its table before; nothing is written.

    Raises:
        RuleViolation: `checks.document`, `checks.rule`.
    """
    document = read_document(text)
    hive = TableName.parse(get_lake(lake).lake, document.table)
    return _trial(document, hive, {}, user=user, now=now)


def trial_result(trial: CheckTrial, *, user: User, now: datetime) -> Trial:
    """Judge a draft by what its run has measured, and by what was measured before."""
    readings = msgspec.convert(trial.readings, dict[str, list[Reading]])
    return _trial(trial.checks, trial.hive, readings, user=user, now=now)


def trial_request(lake: str, text: str, *, user: User, now: datetime) -> CheckTrial:
    """Ask for a run that measures a draft's metrics on the newest windows of its table.

    Raises:
        RuleViolation: as `checks_set`; `checks.trials`, three of the person wait or run.
        NotVisible: no such lake or table for this person.
        ExternalFailure: the metastore does not answer.
    """
    document = read_document(text)
    config = get_lake(lake)
    hive = TableName.parse(config.lake, document.table)
    with Metastore.connect(config) as metastore:
        struct = table_seen(metastore, hive, user=user)
        check_others(metastore, config.lake, document.rules, user=user)
    with transaction.atomic():
        open_runs = Run.objects.filter(
            lake=lake, kind=KIND, requested_by=user.username, finished_at=None
        )
        if open_runs.count() >= _MOST_OPEN:
            raise RuleViolation(
                "checks.trials", f"{_MOST_OPEN} trials of yours wait or run; wait until one ended."
            )
        trial = CheckTrial.objects.create(
            lake=lake,
            db=hive.db,
            table=hive.table,
            owner=owner_of(struct),
            document=to_parsed(document),
            asked_by=user.username,
            asked_at=now,
        )
        run = run_request(
            KIND,
            lake=lake,
            params={"trial": trial.pk},
            requested_by=user.username,
            subject=("table", str(trial)),
            now=now,
        )
        trial.run_id = run.pk
        trial.save(update_fields=["run_id"])
    return trial


def trial_task(run: Run) -> dict[str, Any]:
    """Return what the program measures of a trial; nothing where it cannot, which the trial says.

    Raises:
        ExternalFailure: the metastore does not answer.
    """
    trial = CheckTrial.objects.filter(lake=run.lake, pk=run.params["trial"]).first()
    tasks: tuple[Task, ...] = ()
    if trial is not None:
        try:
            with Metastore.connect(get_lake(run.lake)) as metastore:
                tasks = (_task(trial, metastore),)
        except ExternalFailure:
            raise
        except PortalError as error:
            CheckTrial.objects.filter(pk=trial.pk).update(problem=error.message)
    plain: dict[str, Any] = msgspec.to_builtins(Request(tasks))
    return plain


def trial_take(run: Run, *, outcome: str, now: datetime) -> None:
    """Take in what a trial's run has measured, or why it has not; the same twice is the same."""
    trial = CheckTrial.objects.filter(lake=run.lake, pk=run.params["trial"]).first()
    if trial is None:
        return
    measured = None
    if run.spool:
        measured = json_result(open_spool(run), MEASURED, trial.pk, Measured)
    if measured is not None and measured.state == "done":
        trial.readings, trial.problem = msgspec.to_builtins(_readings(measured)), ""
    elif measured is not None:
        trial.problem = measured.note or measured.reason
    elif outcome != "done":
        trial.problem = trial.problem or "The run did not come to its end."
    trial.measured_at = now
    trial.save(update_fields=["readings", "problem", "measured_at"])


def run_of_trial(trial: CheckTrial) -> Run | None:
    """Return the run that measures a trial; None: it is gone."""
    return None if trial.run_id is None else Run.objects.filter(pk=trial.run_id).first()


def trials_trim(lake: str, *, now: datetime) -> int:
    """Delete trials of some days ago; returns how many."""
    rows = CheckTrial.objects.filter(lake=lake, asked_at__lt=now - KEPT)
    old = list(rows.order_by("pk").values_list("pk", flat=True)[:_AT_ONCE])
    CheckTrial.objects.filter(pk__in=old).delete()
    return len(old)


def _trial(
    document: Document,
    hive: TableName,
    measured: Mapping[str, Sequence[Reading]],
    *,
    user: User,
    now: datetime,
) -> Trial:
    readings = {key: list(ones) for key, ones in measured.items()}
    row = check_set_of_table(str(hive.lake), hive.db, hive.table, user=user)
    if row is not None and row.checks.partition_key == document.partition_key:
        for key, ones in readings_of(row, [one.measured for one in document.rules]).items():
            # Of a window that both have the newer one is judged.
            readings.setdefault(key, []).extend(ones)
    tried = try_rules(document.rules, readings, now=now)
    return Trial(document, tried, unmeasured(document.rules, readings))


def _task(trial: CheckTrial, metastore: Metastore) -> Task:
    user, checks = author(trial.asked_by), trial.checks
    struct = table_seen(metastore, trial.hive, user=user)
    check_others(metastore, trial.hive.lake, checks.rules, user=user)
    windows, key = [""], checks.partition_key
    if key:
        windows = newest_windows(trial.hive, key, struct, metastore, most=MOST_WINDOWS)
    return msgspec.structs.replace(
        task_of(trial.pk, trial.hive, struct, checks, windows),
        budget_seconds=_BUDGET_SECONDS,
        sql_seconds=_SQL_SECONDS,
    )


def _readings(measured: Measured) -> dict[str, list[Reading]]:
    found: dict[str, list[Reading]] = {}
    for window in measured.windows:
        for one in window.values:
            reading = Reading(window.window, one.value, measured.measured_at, one.reason)
            found.setdefault(one.key, []).append(reading)
    return found
