"""Applies advice, dismisses it, and takes what was applied back: each by a person with a reason."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from optimizer.advice.domain.states import AdviceState
from optimizer.advice.domain.subjects import Subject, text_of, value_of
from optimizer.advice.selectors import planned_since
from optimizer.advice.services.advised_cubes import (
    cube_of_advice,
    cube_of_advice_pause,
    unused_cube_pause,
    unused_cube_resume,
)
from optimizer.iceberg.tables.selectors.scans import since
from optimizer.models import Advice, Cube
from optimizer.policies.selectors.policies import policies_of, policy_current
from optimizer.policies.services.policies import PolicyChange, policy_allowed, policy_set
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.reasons import check_text

MAX_REASON = 1000


def advice_apply(row: Advice, *, user: User, reason: str, now: datetime) -> Advice:
    """Set the table's policy to what is advised; the optimizer does the rest in its own time.

    An advised cube is defined, as by the form of cubes.

    Raises:
        NotVisible, NotAllowed: as for the policy of the table; `cube.join`, a table that the cube
            joins is not the person's to see.
        RuleViolation: as `policy_set`, when it contradicts the rest of the policy; `cube.most`.
        StaleState: `optimizer.gone`, `advice.decided`, `cube.name`, or `advice.policy` when that
            field was changed meanwhile.
    """
    table, why = row.table, checked_reason(row, user, reason)
    with transaction.atomic():
        one = claimed_advice(row, AdviceState.NEW)
        before = _own_values(one)
        subject = Subject(one.subject)
        if subject.is_of_policy and _is_changed(one, text_of(before.get(subject))):
            raise StaleState(
                "advice.policy",
                f"The {subject.word} of {table} changed since this advice was made; ask for a new "
                "one.",
            )
        one.state, one.applied_at = AdviceState.APPLIED, now
        if one.gives_up:
            # Nothing is measured afterwards, so other advice need not wait for it.
            one.is_open = None
        else:
            one.n_before, one.bytes_before = planned_since(one, since(now))
        if not subject.is_of_policy:
            act = unused_cube_pause if one.gives_up else cube_of_advice
            act(one, user=user, reason=why, now=now)
        _decide(one, user.username, why, now, "optimizer.advice_applied")
        if not subject.is_of_policy:
            return one
        proposed = value_of(subject, one.proposed)
        _set_policy(one, {**before, subject.value: proposed}, user=user, reason=why, now=now)
    return one


def advice_roll_back(row: Advice, *, user: User, reason: str, now: datetime) -> Advice:
    """Give the table's policy back what it had; files stay as they lie. A cube is paused.

    Raises:
        As `advice_apply`.
    """
    table, why = row.table, checked_reason(row, user, reason)
    with transaction.atomic():
        one = claimed_advice(row, AdviceState.APPLIED)
        values = _own_values(one)
        subject = Subject(one.subject)
        if subject.is_of_policy and text_of(values.get(subject)) != one.proposed:
            raise StaleState(
                "advice.policy",
                f"The {subject.word} of {table} changed since this advice was applied; its policy "
                "is where to change it again.",
            )
        one.state, one.is_open = AdviceState.ROLLED_BACK, None
        _decide(one, user.username, why, now, "optimizer.advice_rolled_back")
        if not subject.is_of_policy:
            undo = unused_cube_resume if one.gives_up else cube_of_advice_pause
            undo(one, user=user, reason=why, now=now)
            return one
        before = {key: value for key, value in values.items() if key != subject}
        if one.before:
            before[subject.value] = value_of(subject, one.before)
        _set_policy(one, before, user=user, reason=why, now=now)
    return one


def advice_stopped(row: Advice, cube: Cube, *, now: datetime) -> None:
    """Roll back an advice whose cube somebody paused or dropped: the decision was theirs.

    It is written down in their name, with their reason and time; the cube is left as it is.

    Raises:
        StaleState: `advice.decided`.
    """
    with transaction.atomic():
        one = claimed_advice(row, AdviceState.APPLIED)
        one.state, one.is_open = AdviceState.ROLLED_BACK, None
        what = f"The cube is {cube.state.lower()}: {cube.state_reason}"
        _decide(one, cube.state_by, what, cube.state_at or now, "optimizer.advice_rolled_back")


def advice_dismiss(row: Advice, *, user: User, reason: str, now: datetime) -> Advice:
    """Put an advice aside; it comes again on new evidence alone, after four weeks at least.

    Raises:
        NotVisible, NotAllowed: as for the policy of the table. StaleState: `advice.decided`.
    """
    why = checked_reason(row, user, reason)
    with transaction.atomic():
        one = claimed_advice(row, AdviceState.NEW)
        one.state, one.is_open = AdviceState.DISMISSED, None
        _decide(one, user.username, why, now, "optimizer.advice_dismissed")
    return one


def checked_reason(row: Advice, user: User, reason: str) -> str:
    """Return the reason of who may decide on the advice.

    Raises:
        NotVisible, NotAllowed: as for the policy of the table. StaleState: `optimizer.gone`.
        RuleViolation: `advice.why`.
    """
    if row.table.is_deleted:
        # The name may be another table's by now, of which these scans say nothing.
        raise StaleState("optimizer.gone", f"{row.table} is gone; nothing is done to it.")
    policy_allowed(row.table.lake, str(row.table).lower(), user)
    why = reason.strip()
    if not why or len(why) > MAX_REASON:
        raise RuleViolation(
            "advice.why",
            f"Enter a reason, in at most {MAX_REASON} letters; it is kept in the history.",
            field="reason",
        )
    check_text(why)
    return why


def claimed_advice(row: Advice, expected: AdviceState) -> Advice:
    """Return the advice locked until the transaction ends; of two at once the second is told.

    Raises:
        StaleState: `advice.decided`.
    """
    one = Advice.objects.select_for_update().select_related("table").get(pk=row.pk)
    if one.state != expected:
        by = f" by {one.decided_by}" if one.decided_by else ""
        raise StaleState(
            "advice.decided", f"This advice is decided already{by}; reload the page.", advice=row.pk
        )
    return one


def _own_values(row: Advice) -> dict[str, object]:
    found = policy_current(row.table.lake, str(row.table).lower())
    return dict(found.values) if found else {}


def _is_changed(row: Advice, own: str) -> bool:
    """Whether the table's own policy has another value by now, or inherits another layout."""
    if row.gives_up and row.subject == Subject.LAYOUT:
        held = policies_of(row.table.lake).of(row.table.db, row.table.table).policy.layout
        return own != row.before or [str(held)] != row.evidence["columns"]
    return own != row.before


def _set_policy(
    row: Advice, values: Mapping[str, object], *, user: User, reason: str, now: datetime
) -> None:
    scope = str(row.table).lower()
    current = policy_current(row.table.lake, scope)
    change = PolicyChange(
        row.table.lake, scope, values, current.version if current else 0, f"Advice: {reason}"
    )
    policy_set(change, user=user, now=now)


def _decide(row: Advice, by: str, reason: str, now: datetime, action: str) -> None:
    row.decided_by, row.decided_at, row.reason = by, now, reason
    row.save()
    audit_record(
        action,
        actor=by,
        lake=row.table.lake,
        object_type="optimizer_advice",
        object_id=str(row.table),
        data={"advice": row.pk, row.subject: row.proposed, "reason": reason},
        now=now,
    )
