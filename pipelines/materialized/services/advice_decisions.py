"""Follows what a person decides on an advice: define the materialization, pause one, dismiss."""

from datetime import datetime

from django.db import transaction

from pipelines.materialized.domain.advising import AdviceState
from pipelines.materialized.services.definitions import (
    Wanted,
    materialization_create,
    materialization_pause,
)
from pipelines.models import Materialization, MaterializationAdvice
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.reasons import check_reason


def advice_define(
    row: MaterializationAdvice, name: str, wanted: Wanted, *, user: User, now: datetime
) -> Materialization:
    """Define the materialization that is advised, as the person changed it; it is computed soon.

    Raises:
        As `materialization_create`; StaleState: `materialized.advice_decided`.
        RuleViolation: `materialized.advice_pauses`, it advises to pause one.
    """
    if row.gives_up:
        raise RuleViolation(
            "materialized.advice_pauses",
            f"This advises to pause {row.name}; there is none to define.",
        )
    _check_new(row)
    made = materialization_create(row.lake, name, wanted, user=user, now=now)
    with transaction.atomic():
        one = _claimed(row)
        one.materialization = made
        _decide(one, AdviceState.APPLIED, user=user, why="", now=now)
    return made


def advice_pause(row: MaterializationAdvice, *, user: User, why: str, now: datetime) -> None:
    """Pause the materialization that nobody reads; one that was paused or deleted stays so.

    Raises:
        StaleState: `materialized.advice_decided`.
        RuleViolation: `materialized.advice_defines`, it advises to define one;
            `materialized.reason`.
    """
    if not row.gives_up:
        raise RuleViolation(
            "materialized.advice_defines", f"This advises to define {row.name}; nothing is paused."
        )
    with transaction.atomic():
        one = _claimed(row)
        _check_reason(why)
        if one.materialization is not None:
            materialization_pause(one.materialization, paused=True, user=user, now=now)
        one.is_open = None
        _decide(one, AdviceState.APPLIED, user=user, why=why, now=now)


def advice_dismiss(row: MaterializationAdvice, *, user: User, why: str, now: datetime) -> None:
    """Dismiss an advice; the same comes again after four weeks at the earliest.

    Raises:
        StaleState: `materialized.advice_decided`. RuleViolation: `materialized.reason`.
    """
    with transaction.atomic():
        one = _claimed(row)
        _check_reason(why)
        one.is_open = None
        _decide(one, AdviceState.DISMISSED, user=user, why=why, now=now)


def _check_reason(why: str) -> None:
    check_reason(why, "materialized.reason", "Enter a reason.")


def _check_new(row: MaterializationAdvice) -> None:
    if row.state != AdviceState.NEW:
        raise StaleState(
            "materialized.advice_decided",
            f"This advice is {row.state.lower().replace('_', ' ')} already. Reload the page.",
        )


def _claimed(row: MaterializationAdvice) -> MaterializationAdvice:
    """Return the row, locked, as long as nobody has decided."""
    one = MaterializationAdvice.objects.select_for_update().get(pk=row.pk)
    _check_new(one)
    return one


def _decide(
    one: MaterializationAdvice, state: AdviceState, *, user: User, why: str, now: datetime
) -> None:
    one.state, one.decided_by, one.decided_at, one.why = state, user.username, now, why.strip()
    one.save()
    audit_record(
        f"materialized.advice_{state.lower()}",
        actor=user.username,
        lake=one.lake,
        # No `table`: who sees the table of facts is not told what others ask of it.
        object_type="materialization",
        object_id=one.name,
        data={"advice": one.pk, "gives_up": one.gives_up, "sql": one.sql, "reason": one.why},
        now=now,
    )
