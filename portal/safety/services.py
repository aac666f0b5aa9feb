"""Stops everything that acts on a lake at once, and starts it again when two admins agree.

Everybody who is signed in may press, as stopping is always safe; the reason may follow. One admin
proposes to end the stop, another one confirms exactly that proposal; until then nothing starts. A
press meanwhile cancels the proposal. API tokens do none of it. The press is a row; supervise copies
it into every acting run's control.json within 10 s.
"""

import uuid
from datetime import datetime

from django.db import IntegrityError, transaction

from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import NotAllowed, StaleState
from portal.lake.reasons import check_reason, check_text, shown_text
from portal.runs.domain import RunState
from portal.runs.kinds.registry import all_kinds
from portal.runs.models import Run
from portal.runs.outbox.services import publish_run
from portal.runs.records.spools import open_spool
from portal.safety.models import NO_REASON_YET, EmergencyStop
from portal.safety.release import released
from portal.safety.selectors import emergency_stop_wait, may_explain, release_is_pending

PRESSES_TRIED = 5
NO_RELEASE = (
    "red_button.no_release",
    "There is no such proposal to end the emergency stop (any more): it was withdrawn, cancelled "
    "by a press, or has expired. Open the page again.",
)


def emergency_stop_start(
    *, lake: str, pressed_by: str, reason: str = "", now: datetime
) -> EmergencyStop:
    """Stop all acting on `lake`; the reason may be given later (`emergency_stop_explain`).

    Pressing it again keeps the first press and its reason, and cancels a proposal to end the stop.
    The program itself presses it as `system` on a DataSafetyError.
    """
    check_text(reason)
    for _ in range(PRESSES_TRIED):
        try:
            with transaction.atomic():
                button = EmergencyStop.objects.create(
                    lake=lake,
                    pressed_by=pressed_by,
                    pressed_at=now,
                    reason=reason.strip() or NO_REASON_YET,
                )
                _audit("pressed", button, actor=pressed_by, now=now, reason=button.reason)
                return button
        except IntegrityError:
            standing = _press_again(lake, by=pressed_by, reason=reason.strip(), now=now)
            if standing is not None:  # else it was released meanwhile: press it
                return standing
    raise StaleState(
        "red_button.busy", "The emergency stop was started and ended meanwhile. Press it again."
    )


def emergency_stop_explain(*, lake: str, user: User, reason: str, now: datetime) -> EmergencyStop:
    """Give the reason of a press that had none; the audit has it as a note of its own.

    Raises:
        NotAllowed: neither who pressed it nor an admin or operator.
        StaleState: it has a reason already, also the second time, or it is not on.
    """
    check_reason(reason, "red_button.reason", "Enter a reason for the stop.")
    with transaction.atomic():
        press = _standing(lake)
        if not may_explain(press, user):
            raise NotAllowed(
                "red_button.explain",
                "Only who started the emergency stop, an admin or an operator gives its reason.",
            )
        if not press.needs_reason:
            raise StaleState("red_button.explained", "The emergency stop has a reason already.")
        press.reason = reason.strip()
        press.save(update_fields=["reason"])
        _audit("explained", press, actor=user.username, now=now, reason=press.reason)
    return press


def emergency_stop_on_danger(lake: str, *, run_id: str, reason: str, now: datetime) -> None:
    """Stop all acting because a run met a DataSafetyError; the platform calls this."""
    # What a run met may name a path with any sign in it: the stop itself is never refused.
    why = shown_text(f"Run {run_id}: {reason}")
    emergency_stop_start(lake=lake, pressed_by="system", reason=why, now=now)


def stop_release_propose(*, lake: str, user: User, reason: str, now: datetime) -> EmergencyStop:
    """Propose to end the stop: an admin, with a reason; nothing starts before another confirms.

    Asked again by the same person while it waits, it changes nothing.

    Raises:
        NotAllowed: not an admin.
        StaleState: the stop is not on, or somebody else's proposal waits.
    """
    _check_admin(user, lake)
    check_reason(reason, "red_button.reason", "Enter a reason for resuming.")
    with transaction.atomic():
        press = _standing(lake)
        if release_is_pending(press, now=now):
            if _is(press.release_proposed_by, user):
                return press
            raise StaleState(
                "red_button.release_pending",
                f"{press.release_proposed_by} has proposed to end the emergency stop already. "
                "Confirm that proposal, or withdraw it.",
            )
        if press.release_id is not None:
            _end_proposal(press, "release_expired", by="system", now=now)
        press.release_id = uuid.uuid4()
        press.release_proposed_by, press.release_proposed_at = user.username, now
        press.release_reason = reason.strip()
        _save_release(press)
        _audit("release_proposed", press, actor=user.username, now=now, reason=press.release_reason)
    return press


def stop_release_confirm(
    *, lake: str, release_id: uuid.UUID, user: User, now: datetime
) -> EmergencyStop:
    """End the stop as another admin proposed it: `lake` may be acted on again.

    Raises:
        NotAllowed: not an admin, or the proposer.
        StaleState: the stop is not on; this proposal does not wait any more; its proposer is no
            admin any more. So it is the second time.
    """
    _check_admin(user, lake)
    with transaction.atomic():
        press = _standing(lake)
        if press.release_id != release_id or not release_is_pending(press, now=now):
            raise StaleState(*NO_RELEASE)
        if _is(press.release_proposed_by, user):
            raise NotAllowed(
                "red_button.same_person",
                "You proposed to end the emergency stop, so another admin must confirm it.",
            )
        proposer = User.objects.filter(username=press.release_proposed_by).first()
        if proposer is None or not proposer.is_lake_admin_of(lake):
            raise StaleState(
                "red_button.proposer",
                f"{press.release_proposed_by} is not an admin any more. Withdraw the proposal and "
                "make one of your own.",
            )
        press.released_by, press.released_at = user.username, now
        press.is_open = None
        press.save(update_fields=["released_by", "released_at", "is_open"])
        afterwards = released(lake, pressed_at=press.pressed_at, now=now)
        _audit(
            "released",
            press,
            actor=user.username,
            now=now,
            reason=press.release_reason,
            proposed_by=press.release_proposed_by,
        )
        _hint_waiting(lake, now=now)
    for finish in afterwards:
        finish()
    return press


def stop_release_withdraw(*, lake: str, user: User, now: datetime) -> EmergencyStop:
    """Take back the proposal to end the stop, by any admin: the stop stays on.

    Raises:
        NotAllowed: not an admin.
        StaleState: none waits; so it is the second time.
    """
    _check_admin(user, lake)
    with transaction.atomic():
        press = _standing(lake)
        if not release_is_pending(press, now=now):
            raise StaleState(*NO_RELEASE)
        _end_proposal(press, "release_withdrawn", by=user.username, now=now)
    return press


def _press_again(lake: str, *, by: str, reason: str, now: datetime) -> EmergencyStop | None:
    """Keep the press that stands and cancel a proposal to end it; None where none stands."""
    with transaction.atomic():
        press = (
            EmergencyStop.objects.select_for_update().filter(lake=lake, released_at=None).first()
        )
        if press is not None and press.release_id is not None:
            pending = release_is_pending(press, now=now)
            action = "release_cancelled" if pending else "release_expired"
            _end_proposal(press, action, by=by if pending else "system", now=now, reason=reason)
        return press


def _standing(lake: str) -> EmergencyStop:
    """Return the press that stands, locked: whatever changes it takes this lock first."""
    press = _locked(lake)
    if press is None:
        raise StaleState("red_button.released", "The emergency stop is not on (any more).")
    return press


def _locked(lake: str) -> EmergencyStop | None:
    return EmergencyStop.objects.select_for_update().filter(lake=lake, released_at=None).first()


def _end_proposal(
    press: EmergencyStop, action: str, *, by: str, now: datetime, reason: str = ""
) -> None:
    """Forget a proposal; the audit keeps who made it."""
    _audit(action, press, actor=by, now=now, reason=reason, proposed_by=press.release_proposed_by)
    press.release_id = press.release_proposed_at = None
    press.release_proposed_by = press.release_reason = ""
    _save_release(press)


def _save_release(press: EmergencyStop) -> None:
    press.save(
        update_fields=[
            "release_id", "release_proposed_by", "release_proposed_at", "release_reason",
        ]
    )  # fmt: skip


def _check_admin(user: User, lake: str) -> None:
    if not user.is_lake_admin_of(lake):
        raise NotAllowed("red_button.admin", "Only admins may end the emergency stop.")


def _is(username: str, user: User) -> bool:
    return username.casefold() == user.username.casefold()


def _audit(action: str, press: EmergencyStop, *, actor: str, now: datetime, **said: str) -> None:
    audit_record(
        f"red_button.{action}",
        actor=actor,
        lake=press.lake,
        object_type="lake",
        object_id=press.lake,
        data={key: value for key, value in said.items() if value},
        now=now,
    )


def _hint_waiting(lake: str, *, now: datetime) -> None:
    """Tell workers at once of what waited; else they would hear of it within ten minutes."""
    kinds = [kind.name for kind in all_kinds() if kind.destroys]
    for run in Run.objects.filter(lake=lake, state=RunState.QUEUED, kind__in=kinds):
        publish_run(run, now=now)


def tell_stop(run: Run) -> bool:
    """Tell a job to end where the emergency stop is on; whether it was told."""
    pressed = emergency_stop_wait(run.lake)
    if not (pressed and run.spool):
        return False
    open_spool(run).write_control({"cancel": True, "by": "emergency stop", "reason": pressed})
    return True
