"""Overrides a blocking rule for one window: one person asks with a reason, another confirms it."""

from datetime import datetime

from django.db import IntegrityError, transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.reasons import check_text
from quality.models import Override, RuleResult


def override_ask(result: RuleResult, *, reason: str, user: User, now: datetime) -> Override:
    """Ask to override a rule for a window; asked again, the first one stands.

    Raises:
        RuleViolation: `checks.reason`, there is none.
        StaleState: `checks.override`, the rule does not hold the window back any more.
    """
    said = reason.strip()
    check_text(said)
    if not said:
        raise RuleViolation("checks.reason", "Say why the window is good to be read.")
    with transaction.atomic():
        row = _locked(result)
        known = Override.objects.filter(result=row).first()
        if known is not None:
            return known
        try:
            with transaction.atomic():
                made = Override.objects.create(
                    result=row, reason=said, asked_by=user.username, asked_at=now
                )
        except IntegrityError as error:
            raise _stale() from error
        _record("checks.override_asked", made, by=user.username, now=now)
    return made


def override_confirm(result: RuleResult, *, user: User, now: datetime) -> Override:
    """Confirm the override that somebody else asked for; confirmed twice it changes nothing.

    Raises:
        NotAllowed: `checks.override_same`, the person who asked.
        StaleState: `checks.override`, nobody asked, or the rule was judged otherwise since.
    """
    with transaction.atomic():
        row = _locked(result)
        known = Override.objects.select_for_update().filter(result=row).first()
        if known is None:
            raise _stale()
        if known.holds:
            return known
        if known.asked_by == user.username:
            raise NotAllowed(
                "checks.override_same", "Somebody else than who asked for the override confirms it."
            )
        known.confirmed_by, known.confirmed_at = user.username, now
        known.save(update_fields=["confirmed_by", "confirmed_at"])
        _record("checks.overridden", known, by=user.username, now=now)
    return known


def _locked(result: RuleResult) -> RuleResult:
    rows = RuleResult.objects.select_for_update().select_related("check_set")
    row = rows.filter(pk=result.pk).first()
    if row is None or not row.holds_back:
        raise _stale()
    return row


def _stale() -> StaleState:
    return StaleState(
        "checks.override",
        "The rule was judged again since, or does not hold this window back. Reload the page.",
    )


def _record(action: str, override: Override, *, by: str, now: datetime) -> None:
    result = override.result
    audit_record(
        action,
        actor=by,
        lake=result.check_set.lake,
        object_type="table",
        object_id=str(result.check_set),
        data={
            "window": result.window,
            "rule": result.rule,
            "verdict": result.text,
            "reason": override.reason,
            "asked_by": override.asked_by,
        },
        now=now,
    )
