"""Changes how columns of a captured table are protected, and by what it is partitioned.

Values of two protections never lie in one table: the lake gets a new table, which is loaded from
the source, and the old one stays as it is until somebody drops it. So does a table whose change
the lake's table cannot follow: the new one begins with the newest schema.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from django.db import transaction

from pipelines.cdc.control.domain.plans import NOTHING, Decision, TablePlan
from pipelines.cdc.control.domain.spec import target_name
from pipelines.cdc.control.services.orders import plan_of
from pipelines.cdc.control.services.pipelines import (
    check_reason_given,
    load_again,
    locked_table,
    table_record,
)
from pipelines.cdc.control.services.reports import schema_of
from pipelines.cdc.protecting.domain.columns import check_table
from pipelines.cdc.protecting.domain.protections import PLAIN, Protection
from pipelines.cdc.protecting.services.lake_keys import check_keys
from pipelines.models import CapturedTable, SchemaChange
from portal.access.actors import Actor
from portal.lake.errors import NotAllowed, RuleViolation

_CHANGED = (
    *("protections", "partition_column", "target_table", "location", "first_batch"),
    *("first_schema", "prepared", "problem", "problem_code"),
)


def table_protect(
    table: CapturedTable,
    protections: Mapping[str, str],
    *,
    partition: str,
    reason: str,
    by: Actor,
    now: datetime,
) -> bool:
    """Protect columns otherwise, or partition by another; returns whether it is loaded again.

    `protections` are those of the columns that the source has now; others become plain. The same
    again changes nothing. A table that was held because it could not be protected as asked is
    applied from then on, and needs no new load. One that is held by a change that was refused
    begins again with its newest schema.

    Raises:
        NotAllowed: for anyone but an admin with a fresh log-in.
        RuleViolation: without a reason, or the table cannot be protected or partitioned so, or by
            a key that is not the lake's.
    """
    if not (by.is_admin and by.is_fresh):
        raise NotAllowed(
            "pipeline.role",
            "Only an admin changes how columns are protected, within 15 minutes of a log-in. Log "
            "in again at /login/again/ and repeat it.",
        )
    said = check_reason_given(reason)
    wanted = {name: Protection.parse(text) for name, text in protections.items()}
    check_keys(table.lake, wanted.values())
    with transaction.atomic():
        row = locked_table(table)
        stored = list(row.schemas.filter(number__gte=row.first_schema).order_by("number"))
        if not stored:
            raise RuleViolation("pipeline.no_schema", "The table's schema is not captured yet.")
        plan = plan_of(row, stored)
        is_applied = bool(plan.live)
        if is_applied and is_refused(row, stored):
            row.first_schema, row.prepared = stored[-1].number, []
            stored = stored[-1:]
            plan = NOTHING
        _check(row, stored, plan, wanted, partition)
        if is_applied and plan.live and _is_so(row, plan, wanted, partition):
            return False
        _store(row, stored, plan, wanted, partition)
        if not plan.live:
            stored[0].decision, stored[0].decided_by = Decision.NONE.value, by.name
            stored[0].decided_at, stored[0].decided_reason = now, said
            stored[0].save(update_fields=["decision", "decided_by", "decided_at", "decided_reason"])
        if is_applied:
            _begin_again(row)
        row.save(update_fields=_CHANGED)
        table_record(
            "table_protected",
            row,
            by=by.name,
            data={
                "protections": {name: str(one) for name, one in wanted.items()},
                "partition": partition,
                "target": row.target,
                "reason": said,
            },
            now=now,
        )
        return is_applied


def protections_shown(table: CapturedTable, plan: TablePlan) -> list[tuple[str, str]]:
    """Return the protected columns by the names that the source has now, with how they are."""
    if not plan.live:
        return sorted(table.protections.items())
    names = [(name, plan.protection_of(name)) for name in plan.live]
    return sorted((name, str(one)) for name, one in names if one != PLAIN)


def is_refused(table: CapturedTable, stored: Iterable[SchemaChange]) -> bool:
    """Whether a refused change holds the table, and none waits for a decision any more."""
    decisions = {one.decision for one in stored if one.number > table.first_schema}
    return Decision.REFUSED.value in decisions and Decision.WAITING.value not in decisions


def _check(
    row: CapturedTable,
    stored: list[SchemaChange],
    plan: TablePlan,
    wanted: Mapping[str, Protection],
    partition: str,
) -> None:
    applied = [one.number for one in plan.schemas if not one.is_held] or [stored[0].number]
    schema = next(one for one in stored if one.number == applied[-1])
    check_table(schema_of(row, schema), wanted, partition)
    if waiting := sorted(wanted.keys() & set(plan.pending)):
        raise RuleViolation(
            "cdc.protection",
            f"{', '.join(waiting)} of {row} waits for a word: say how the lake may have it there.",
        )
    if partition and plan.origins and plan.origins[partition][0] != stored[0].number:
        raise RuleViolation(
            "cdc.partition", f"{partition} came to {row} later: older rows do not have it."
        )


def _is_so(
    row: CapturedTable, plan: TablePlan, wanted: Mapping[str, Protection], partition: str
) -> bool:
    before = {name: one for name in plan.live if (one := plan.protection_of(name)) != PLAIN}
    after = {name: one for name, one in wanted.items() if one != PLAIN}
    return before == after and row.partition_column == _first_name(plan, partition)


def _store(
    row: CapturedTable,
    stored: list[SchemaChange],
    plan: TablePlan,
    wanted: Mapping[str, Protection],
    partition: str,
) -> None:
    """Keep each protection where its column came from: with the first schema, or a later one."""
    row.partition_column = _first_name(plan, partition)
    if not plan.live:
        row.protections = {name: str(one) for name, one in wanted.items() if one != PLAIN}
        return
    first, row.protections = stored[0].number, {}
    for name in plan.live:
        number, original = plan.origins[name]
        protection = wanted.get(name, PLAIN)
        if number != first:
            change = next(one for one in stored if one.number == number)
            change.column_choices = {**change.column_choices, original: str(protection)}
            change.save(update_fields=["column_choices"])
        elif protection != PLAIN:
            row.protections[original] = str(protection)


def _begin_again(row: CapturedTable) -> None:
    """Have the apply begin a new table, and the capture load it from the source."""
    others = CapturedTable.objects.filter(lake=row.lake, target_db=row.target_db)
    taken = set(others.values_list("target_table", flat=True))
    row.target_table, row.location = target_name(row.db, row.table, taken=taken), ""
    row.first_batch = row.pipeline.batch + 1
    load_again(row)
    row.problem, row.problem_code = "", ""


def _first_name(plan: TablePlan, column: str) -> str:
    return plan.origins[column][1] if column in plan.origins else column
