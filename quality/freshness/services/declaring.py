"""Declares a table's deadline and readiness rule: who may, and what changes then.

Whoever may see a table may declare for it: its owner, who administers its database, and admins and
operators. Declaring the same twice changes nothing.
"""

from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from django.db import IntegrityError, transaction
from django.db.models import F

from portal.access.lakes import get_lake
from portal.access.models import User
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.names import TableName
from quality.freshness.domain.cadence import Cadence, TimeFormat
from quality.freshness.services.sources import check_fed
from quality.models import FreshnessRule, FreshnessStatus
from quality.ready_flag.services.tables import keys_of, owner_of, table_seen

LONGEST_MINUTES = 60 * 24 * 60
MOST_SOURCES = 20


@dataclass(frozen=True, slots=True)
class Declared:
    """What somebody declares; None asks nothing."""

    time_key: str
    time_format: TimeFormat
    hour_key: str = ""
    sla_minutes: int | None = None
    delay_minutes: int | None = None
    min_rows: int | None = None
    min_files: int | None = None
    source_tables: tuple[str, ...] = ()

    def check(self) -> None:
        """Refuse what declares nothing or too much.

        Raises:
            RuleViolation: `readiness.empty`, `readiness.minutes`, `readiness.least`,
            `readiness.sources`.
        """
        asked = (self.sla_minutes, self.delay_minutes, self.min_rows, self.min_files)
        if all(one is None for one in asked):
            raise RuleViolation(
                "readiness.empty",
                "Declare a time by which partitions are ready, or a rule that says so, or both.",
            )
        for minutes in filter(None, asked[:2]):
            if not 0 <= minutes <= LONGEST_MINUTES:
                raise RuleViolation(
                    "readiness.minutes", f"Give 0 to {LONGEST_MINUTES:,} minutes (60 days)."
                )
        if any(least is not None and least < 1 for least in asked[2:]):
            raise RuleViolation("readiness.least", "A least number of rows or files is 1 or more.")
        if self.source_tables and self.delay_minutes is None:
            raise RuleViolation(
                "readiness.sources",
                "Name source tables beside a delay: they must be applied up to the end and the "
                "delay. 0 minutes is a delay too.",
            )
        if len(self.source_tables) > MOST_SOURCES:
            raise RuleViolation("readiness.sources", f"Name at most {MOST_SOURCES} source tables.")


def rule_declare(
    lake: str, table: str, declared: Declared, *, version: int | None, user: User, now: datetime
) -> FreshnessRule:
    """Declare for a table, or change what was declared as of `version` (None: it is new).

    Awaited is every period from the current one on. Another cadence begins again.

    Raises:
        NotVisible: no such lake or table for this person.
        RuleViolation: a name that is none, or what the table cannot have.
        StaleState: somebody else declared or changed it meanwhile.
        ExternalFailure: the metastore does not answer.
    """
    declared.check()
    config = get_lake(lake)
    hive = TableName.parse(config.lake, table)
    with Metastore.connect(config) as metastore:
        struct = table_seen(metastore, hive, user=user)
        for name in declared.source_tables:
            source = TableName.parse(config.lake, name)
            table_seen(metastore, source, user=user)
            check_fed(source)
    cadence = Cadence(declared.time_key, declared.time_format, declared.hour_key, config.zone)
    cadence.check(keys_of(struct))
    owner = owner_of(struct)
    with transaction.atomic():
        rows = FreshnessRule.objects.select_for_update()
        known = rows.filter(lake=lake, db=hive.db, table=hive.table).first()
        if known is None:
            row = _made(hive, declared, owner=owner, cadence=cadence, user=user, now=now)
        elif _as_declared(known) == declared:
            return known
        elif known.version != version:
            raise _stale(hive)
        else:
            row = _changed(known, declared, cadence=cadence, user=user, now=now)
        _record("readiness.declared", row, user=user, now=now)
    return row


def rule_end(rule: FreshnessRule, *, version: int | None, user: User, now: datetime) -> None:
    """Forget what was declared for a table, and how its partitions stood; flags stay as they are.

    Ended twice it is recorded once. Whoever sees the table may, as `rule_declare`.

    Raises:
        StaleState: somebody changed it since `version` was read.
    """
    with transaction.atomic():
        known = FreshnessRule.objects.select_for_update().filter(pk=rule.pk).first()
        if known is None:
            return
        if known.version != version:
            raise _stale(known.hive)
        _record("readiness.ended", known, user=user, now=now)
        known.delete()


def _made(
    hive: TableName,
    declared: Declared,
    *,
    owner: str,
    cadence: Cadence,
    user: User,
    now: datetime,
) -> FreshnessRule:
    current = cadence.period_at(now)
    try:
        with transaction.atomic():
            return FreshnessRule.objects.create(
                lake=str(hive.lake),
                db=hive.db,
                table=hive.table,
                owner=owner,
                **asdict(declared),
                set_by=user.username,
                set_at=now,
                noted_until=current.start,
                look_at=current.end,
            )
    except IntegrityError as error:
        raise _stale(hive) from error


def _changed(
    row: FreshnessRule, declared: Declared, *, cadence: Cadence, user: User, now: datetime
) -> FreshnessRule:
    before = _as_declared(row)
    for name, value in asdict(declared).items():
        setattr(row, name, value)
    if _names(before) != _names(declared):
        row.expected.all().delete()
        row.noted_until = cadence.period_at(now).start
    if before.sla_minutes != declared.sla_minutes:
        due = None if row.sla_minutes is None else F("end") + timedelta(minutes=row.sla_minutes)
        row.expected.exclude(standing=FreshnessStatus.READY).update(due_at=due)
    row.version += 1
    row.set_by, row.set_at, row.look_at = user.username, now, now
    row.save()
    return row


def _as_declared(row: FreshnessRule) -> Declared:
    return Declared(
        row.time_key,
        TimeFormat(row.time_format),
        row.hour_key,
        row.sla_minutes,
        row.delay_minutes,
        row.min_rows,
        row.min_files,
        tuple(row.source_tables),
    )


def _names(declared: Declared) -> tuple[str, TimeFormat, str]:
    return declared.time_key, declared.time_format, declared.hour_key


def _stale(hive: TableName) -> StaleState:
    return StaleState(
        "readiness.changed",
        f"Something was declared for {hive} since you loaded the page. Reload it, then change it.",
        table=str(hive),
    )


def _record(action: str, row: FreshnessRule, *, user: User, now: datetime) -> None:
    audit_record(
        action,
        actor=user.username,
        lake=row.lake,
        object_type="table",
        object_id=str(row),
        data=asdict(_as_declared(row)),
        now=now,
    )
