"""Pauses, resumes and drops cubes; takes in what came of a drop.

A dropped cube's table is taken away by a run that checks that it is this cube's and holds nothing
else. Until then its name is taken.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from optimizer.cubes.domain.states import CubeState
from optimizer.cubes.services.definitions import cube_audit, decide_again, parse_reason
from optimizer.cubes.services.estimates import check_answers
from optimizer.models import Cube
from portal.access.models import User
from portal.lake.errors import StaleState
from portal.runs.models import Run
from portal.runs.requests.services import run_request

DROP_KIND = "optimizer.cube_drop"
_ACTIONS = {
    CubeState.ACTIVE: "optimizer.cube_resumed",
    CubeState.PAUSED: "optimizer.cube_paused",
    CubeState.DROPPING: "optimizer.cube_drop_asked",
}


def cube_pause(cube: Cube, *, user: User, reason: str, now: datetime) -> None:
    """Have a cube not built further; what it covers already still answers queries.

    Raises:
        NotVisible, NotAllowed: whoever does not answer for the table.
        RuleViolation: `cube.reason`; StaleState: `cube.state`, twice.
    """
    check_answers(cube.table, user)
    _move(cube, {CubeState.ACTIVE}, CubeState.PAUSED, user=user, reason=reason, now=now)


def cube_resume(cube: Cube, *, user: User, reason: str, now: datetime) -> None:
    """Have a paused cube built again.

    Raises:
        As `cube_pause`.
    """
    check_answers(cube.table, user)
    with transaction.atomic():
        _move(cube, {CubeState.PAUSED}, CubeState.ACTIVE, user=user, reason=reason, now=now)
        decide_again(cube.table, now=now)


def cube_drop(cube: Cube, *, user: User, reason: str, now: datetime) -> Run:
    """Have a cube's table taken away by a run; asked again after a failure it is tried again.

    Raises:
        As `cube_pause`; StaleState: `cube.dropping`, a run of it is under way.
    """
    check_answers(cube.table, user)
    open_states = {CubeState.ACTIVE, CubeState.PAUSED, CubeState.DROPPING}
    with transaction.atomic():
        _move(cube, open_states, CubeState.DROPPING, user=user, reason=reason, now=now)
        busy = Run.objects.filter(
            kind=DROP_KIND, subject_type="cube", subject_id=str(cube.pk), finished_at=None
        )
        if busy.exists():
            raise StaleState("cube.dropping", f"A run drops {cube} already.")
        return run_request(
            DROP_KIND,
            lake=cube.table.lake,
            params={
                "cube": cube.pk,
                "name": cube.name,
                "db": cube.table.db,
                "table": cube.table.table,
                "uuid": cube.table.uuid,
                "cube_uuid": cube.cube_uuid,
            },
            requested_by=user.username,
            reason=reason.strip(),
            subject=("cube", str(cube.pk)),
            now=now,
        )


def drop_ingest(run: Run, manifest: Mapping[str, Any], *, now: datetime) -> None:
    """Mark a cube as dropped, or say why it is not; called again it changes nothing."""
    with transaction.atomic():
        cube = Cube.objects.select_for_update().filter(pk=run.params["cube"]).first()
        if cube is None or cube.state != CubeState.DROPPING:
            return
        if manifest.get("outcome") != "done":
            error = manifest.get("error") or {}
            cube.problem = error.get("message") or "The run that drops it ended without a word."
            cube.save(update_fields=["problem"])
            return
        cube.state, cube.is_there, cube.problem = CubeState.DROPPED, None, ""
        cube.state_at = now
        cube.save(update_fields=["state", "is_there", "problem", "state_at"])
        cube.coverage.all().delete()
        cube_audit(
            "optimizer.cube_dropped",
            cube,
            by=run.requested_by,
            reason=run.reason,
            now=now,
            result=(manifest.get("result") or {}).get("words", ""),
        )


def _move(
    cube: Cube,
    before: set[CubeState],
    after: CubeState,
    *,
    user: User,
    reason: str,
    now: datetime,
) -> None:
    reason = parse_reason(reason)
    with transaction.atomic():
        free = Cube.objects.filter(pk=cube.pk, state__in=before)
        said = {"state_by": user.username, "state_at": now, "state_reason": reason}
        if not free.update(state=after, **said):
            cube.refresh_from_db()
            raise StaleState("cube.state", f"{cube} is {cube.state.lower()} by now.")
        cube_audit(_ACTIONS[after], cube, by=user.username, reason=reason, now=now)
    cube.refresh_from_db()
