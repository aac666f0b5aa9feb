"""Updates a table's expected partitions, and marks those that its rule finds ready.

Each look asks the metastore for what is expected and not ready, however many partitions the table
has otherwise. Looking twice writes the same; a flag that was set stays set.
"""

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from portal.access.lakes import get_lake
from portal.audit.services import audit_record
from portal.connectors.metastore import Metastore
from portal.lake.clock import from_epoch_seconds
from portal.lake.errors import PortalError
from portal.lake.names import PartitionName
from portal.lake.partition_specs import expand
from portal.lake.readiness import FLAG, is_ready
from quality.freshness.domain.cadence import Cadence, Period
from quality.freshness.domain.inspection_schedule import FORGOTTEN, GIVEN_UP, next_inspection
from quality.freshness.domain.ready_rule import FreshnessDecision, Outcome, Rule, Seen, rule_on
from quality.freshness.services.gates import held_back
from quality.freshness.services.sources import sources_of
from quality.models import ExpectedPartition, FreshnessRule, FreshnessStatus
from quality.ready_flag.services.arrivals import fresh
from quality.ready_flag.services.marking import flags_set
from quality.ready_flag.services.tables import changed_at, keys_of, owner_of

BY_RULE = "rule"
_MOST_PERIODS = 400
_RECORDED = 20
_STATUSES = {
    Outcome.MISSING: FreshnessStatus.MISSING,
    Outcome.WAITS: FreshnessStatus.UNREADY,
    Outcome.SET: FreshnessStatus.READY,
    Outcome.READY: FreshnessStatus.READY,
}
_TAKEN = ("standing", "ready_at", "ready_by", "came_late", "reason", "seen_at", "is_held")
Leaves = dict[str, Any]


def look_at(rule: FreshnessRule, metastore: Metastore, *, now: datetime) -> int:
    """Look at one table's expected partitions; returns how many periods its rule set ready.

    What is wrong with the table stands at its rule, and it is looked at again in an hour.

    Raises:
        ExternalFailure: the metastore does not answer; nothing is known then.
    """
    cadence = rule.cadence(get_lake(rule.lake).zone)
    _note_periods(rule, cadence, now=now)
    rows = rule.expected.exclude(standing=FreshnessStatus.READY)
    rows.filter(end__lt=now - GIVEN_UP).update(is_given_up=True)
    rule.expected.filter(end__lt=now - FORGOTTEN).delete()
    pending = list(rows.filter(is_given_up=False).order_by("-start")[:_MOST_PERIODS])
    n_set, problem = 0, ""
    table = metastore.table_or_none(rule.hive)
    if table is None:
        problem = "The metastore has the table no more."
    else:
        rule.owner = owner_of(table)
        try:
            cadence.check(keys_of(table))
        except PortalError as error:
            problem = error.message
    if not problem and pending:
        n_set = _look(rule, cadence, pending, metastore, keys=keys_of(table), now=now)
    _plan_next(rule, cadence, problem, now=now)
    return n_set


def _note_periods(rule: FreshnessRule, cadence: Cadence, *, now: datetime) -> None:
    """Make the rows of periods that ended since the last look."""
    made = []
    for period in cadence.periods(rule.noted_until, ended_by=now):
        made.append(ExpectedPartition(rule=rule, start=period.start, **fresh(rule, period)))
        if len(made) == _MOST_PERIODS:
            break
    if made:
        ExpectedPartition.objects.bulk_create(made, batch_size=200, ignore_conflicts=True)
        rule.noted_until = made[-1].end


def _look(
    rule: FreshnessRule,
    cadence: Cadence,
    pending: Sequence[ExpectedPartition],
    metastore: Metastore,
    *,
    keys: tuple[str, ...],
    now: datetime,
) -> int:
    leaves = _leaves(rule, cadence, pending, metastore, keys=keys)
    told: dict[str, str] = {}
    same_as_before: list[int] = []
    changed = {start: _newest_change(found) for start, found in leaves.items()}
    sources, held = sources_of(rule), held_back(rule, pending, changed)
    for row in pending:
        before, seen_before = (row.standing, row.reason), row.seen_at
        found = leaves.get(row.start, {})
        period = Period(row.start, row.end, ())
        asked = Rule() if row.is_held else rule.rule
        seen = Seen.of([struct.parameters or {} for struct in found.values()])
        decision = rule_on(
            asked, period, seen, sources=sources, held_back=held.get(row.start, ()), now=now
        )
        if decision.outcome is Outcome.SET:
            _set(rule, found, metastore)
            told[row.spec] = decision.reason
        _take(row, decision, found, now=now)
        if (row.standing, row.reason) == before:
            same_as_before.append(row.pk)
            continue
        # What somebody said of it since it was read stands.
        unsaid = ExpectedPartition.objects.filter(pk=row.pk, seen_at=seen_before)
        unsaid.update(**{name: getattr(row, name) for name in _TAKEN})
    waiting = ExpectedPartition.objects.filter(pk__in=same_as_before).exclude(
        standing=FreshnessStatus.READY
    )
    waiting.update(seen_at=now)
    if told:
        _record(rule, told, now=now)
    return len(told)


def _leaves(
    rule: FreshnessRule,
    cadence: Cadence,
    pending: Sequence[ExpectedPartition],
    metastore: Metastore,
    *,
    keys: tuple[str, ...],
) -> dict[datetime, Leaves]:
    """Return the partitions of each period by name; names are listed where they are not known."""
    if set(keys) == {rule.time_key, rule.hour_key} - {""}:
        named = [PartitionName.parse(row.spec) for row in pending]
        values = [dict(zip(one.keys, one.values, strict=True)) for one in named]
        names = [str(PartitionName(keys, tuple(one[key] for key in keys))) for one in values]
    else:
        specs = [row.spec for row in pending]
        listed = metastore.partition_names(rule.hive)
        names = list(expand(specs, keys=keys, names=listed).names)
    found: defaultdict[datetime, Leaves] = defaultdict(dict)
    for struct in metastore.partitions_by_names(rule.hive, names):
        name = PartitionName.stored(keys, struct.values)
        period = cadence.period_of(dict(zip(name.keys, name.values, strict=True)))
        if period is not None:
            found[period.start][str(name)] = struct
    return found


def _newest_change(found: Leaves) -> datetime | None:
    """Return when the partitions of a period changed last; None: nobody knows it of one."""
    times = [changed_at(struct) for struct in found.values()]
    known = [at for at in times if at is not None]
    return max(known) if len(known) == len(times) and known else None


def _set(rule: FreshnessRule, found: Leaves, metastore: Metastore) -> None:
    names = [name for name, struct in found.items() if not is_ready(struct.parameters or {})]
    for _ in flags_set(metastore, rule.hive, names, ready=True):
        pass


def _take(
    row: ExpectedPartition, decision: FreshnessDecision, found: Leaves, *, now: datetime
) -> None:
    """Write what is so now; one that was held keeps the word of who held it."""
    row.standing, row.seen_at = _STATUSES[decision.outcome], now
    if row.standing is FreshnessStatus.READY:
        row.ready_at = now if decision.outcome is Outcome.SET else _ready_since(found, now=now)
        row.ready_by = BY_RULE if decision.outcome is Outcome.SET else ""
        row.came_late = row.late_by(now) is not None
        row.is_held = False
    if not row.is_held:
        row.reason = decision.reason


def _ready_since(found: Leaves, *, now: datetime) -> datetime:
    """Return when the last of the partitions came, if none has a flag that may have come later."""
    if any(FLAG in (struct.parameters or {}) for struct in found.values()):
        return now
    made = max((struct.createTime or 0 for struct in found.values()), default=0)
    return min(from_epoch_seconds(made), now) if made > 0 else now


def _plan_next(rule: FreshnessRule, cadence: Cadence, problem: str, *, now: datetime) -> None:
    expected = rule.expected.exclude(standing=FreshnessStatus.READY).filter(is_given_up=False)
    ends = list(expected.order_by("-end").values_list("end", flat=True)[:1])
    next_end = now if _is_behind(rule, cadence, now=now) else cadence.period_at(now).end
    rule.look_at = next_inspection(ends, next_end=next_end, now=now)
    rule.inspected_at, rule.problem = now, problem
    # What somebody declared meanwhile stands.
    same = FreshnessRule.objects.filter(pk=rule.pk, version=rule.version)
    same.update(
        look_at=rule.look_at,
        inspected_at=now,
        problem=problem,
        owner=rule.owner,
        noted_until=rule.noted_until,
    )


def _is_behind(rule: FreshnessRule, cadence: Cadence, *, now: datetime) -> bool:
    """Whether more periods have ended than one look notes."""
    return next(cadence.periods(rule.noted_until, ended_by=now), None) is not None


def _record(rule: FreshnessRule, told: dict[str, str], *, now: datetime) -> None:
    audit_record(
        "partitions.ruled_ready",
        actor=BY_RULE,
        lake=rule.lake,
        object_type="table",
        object_id=str(rule),
        data={"n_periods": len(told), "reasons": dict(list(told.items())[:_RECORDED])},
        now=now,
    )
