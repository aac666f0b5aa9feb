"""Asks what a cube would hold and cost, and whether its definition is right; nothing is built."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from optimizer.cubes.domain.drafts import Draft, parse_draft
from optimizer.iceberg.tables.selectors.tables import tables_named, tables_of
from optimizer.models import IcebergTable
from optimizer.policies.services.policies import policy_allowed
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation, StaleState
from portal.runs.domain import RunState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

KIND = "optimizer.cube_estimate"


def estimate_request(table: IcebergTable, draft: Draft, *, user: User, now: datetime) -> Run:
    """Have a definition checked and estimated by a short run; nothing is built.

    Asked twice there are two runs, which change nothing.

    Raises:
        NotVisible: `policy.table`, `cube.join`: a table that this person may not see.
        RuleViolation: `cube.definition`, what cannot be read.
        StaleState: `optimizer.gone`.
    """
    check_answers(table, user)
    definition = parse_draft(draft, str(table))
    check_joins(table, definition, user)
    return run_request(
        KIND,
        lake=table.lake,
        params={
            "db": table.db,
            "table": table.table,
            "uuid": table.uuid,
            "definition": definition,
        },
        requested_by=user.username,
        reason="What a cube would hold was asked.",
        subject=("table", str(table)),
        now=now,
    )


def check_answers(table: IcebergTable, user: User) -> None:
    """Refuse who does not answer for a table, and a table that is gone.

    Raises:
        NotVisible, NotAllowed: as for the policy of the table; StaleState: `optimizer.gone`.
    """
    if table.is_deleted:
        raise StaleState("optimizer.gone", f"{table} is gone; nothing is done to it.")
    policy_allowed(table.lake, str(table).lower(), user)


def check_joins(table: IcebergTable, definition: Mapping[str, Any], user: User) -> None:
    """Refuse a joined table that the person may not see: the cube would show its values.

    Raises:
        NotVisible: `cube.join`.
    """
    names = [tuple(one["table"].split(".", 1)) for one in definition.get("joins", ())]
    known = tables_of(table.lake, user).filter(pk__in=tables_named(table.lake, names).values("pk"))
    seen = {(one.db.lower(), one.table.lower()) for one in known} if names else set()
    for db, name in names:
        if (db.lower(), name.lower()) not in seen:
            raise NotVisible(
                "cube.join",
                f"There is no Iceberg table {db}.{name} for you in this lake; a cube joins only "
                "tables that you may see.",
                field="joins",
            )


def get_estimate(table: IcebergTable, run_id: UUID) -> Run:
    """Return an estimate of a table by its run.

    Raises:
        NotVisible: `cube.estimate`, the table has no such estimate.
    """
    run = estimates_of(table).filter(pk=run_id).first()
    if run is None:
        raise NotVisible("cube.estimate", "The table has no such estimate.", run=str(run_id))
    return run


def last_estimate(table: IcebergTable) -> Run | None:
    """Return the estimate that was asked for last."""
    return estimates_of(table).order_by("-queued_at").first()


def estimates_of(table: IcebergTable) -> QuerySet[Run]:
    """Return the estimates of cubes of a table, unordered."""
    return Run.objects.filter(
        lake=table.lake, kind=KIND, subject_type="table", subject_id=str(table)
    )


def usable_estimate(table: IcebergTable, run: Run) -> Mapping[str, Any]:
    """Return what an estimate found, where a cube may be made of it.

    Raises:
        StaleState: `cube.estimate`, it is not done, or of another table of the name.
        RuleViolation: `cube.refused`, with the reason.
    """
    found = run.result or {}
    if run.state != RunState.DONE or not found:
        raise StaleState("cube.estimate", "The estimate is not done; wait for it, or ask again.")
    if run.params.get("uuid") != table.uuid:
        raise StaleState("cube.estimate", f"The estimate was of an earlier table {table}.")
    if found["problems"]:
        first = found["problems"][0]
        raise RuleViolation("cube.refused", first["message"], field=first["field"])
    if not found["pays"]:
        raise RuleViolation("cube.refused", found["reason"], field="dimensions")
    return found
