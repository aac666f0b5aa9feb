"""Defines the cube of an advice, pauses it again, and watches whether it answers its queries."""

from collections.abc import Mapping
from datetime import UTC, date, datetime

from django.db.models import Sum

from optimizer.advice.domain.stars.cube_advice import has_answered
from optimizer.advice.selectors import cube_of, planned_since
from optimizer.cubes.domain.states import CubeState
from optimizer.cubes.services.definitions import cube_declare
from optimizer.cubes.services.upkeep import cube_pause, cube_resume
from optimizer.models import Advice, Cube
from portal.access.models import User
from portal.lake.errors import StaleState


def cube_of_advice(row: Advice, *, user: User, reason: str, now: datetime) -> Cube:
    """Define the advised cube, and keep in the row which one it is; the caller saves the row.

    Raises:
        As `cube_declare`.
    """
    definition = row.evidence["definition"]
    cube = cube_declare(row.table, definition, user=user, reason=f"Advice: {reason}", now=now)
    row.evidence = {**row.evidence, "cube": cube.pk}
    return cube


def cube_of_advice_pause(row: Advice, *, user: User, reason: str, now: datetime) -> None:
    """Pause the cube; one that somebody paused or dropped already is left alone.

    Raises:
        As `cube_pause`.
    """
    cube = cube_of(row)
    if cube is not None and cube.state == CubeState.ACTIVE:
        cube_pause(cube, user=user, reason=f"Advice: {reason}", now=now)


def unused_cube_pause(row: Advice, *, user: User, reason: str, now: datetime) -> None:
    """Pause the cube that an advice gives up, and keep in the row which one it is.

    Raises:
        As `cube_pause`; StaleState: `advice.cube`, it is there no more, or answered a query since.
    """
    cube = row.table.cubes.filter(name=row.proposed, is_there=True).first()
    lately = row.confirmed_at.astimezone(UTC).date()
    if cube is None or cube.uses.filter(day__gte=lately, n_queries__gt=0).exists():
        raise StaleState(
            "advice.cube",
            f"The cube {row.proposed} of {row.table} was dropped, or answered a query since this "
            "advice was made; nothing is changed. Dismiss the advice.",
        )
    cube_pause(cube, user=user, reason=f"Advice: {reason}", now=now)
    row.evidence = {**row.evidence, "cube": cube.pk}


def unused_cube_resume(row: Advice, *, user: User, reason: str, now: datetime) -> None:
    """Have the cube built again that an advice paused; one that was dropped since is left alone.

    Raises:
        As `cube_resume`.
    """
    cube = cube_of(row)
    if cube is not None and cube.state == CubeState.PAUSED:
        cube_resume(cube, user=user, reason=f"Advice: {reason}", now=now)


def advised_cube_watch(row: Advice, *, now: datetime) -> str:
    """Count what the cube answered since its first build; return why it is to be taken back.

    A cube that answers its tenth stays, and its advice is open no more. Called again at any time.
    """
    cube = cube_of(row)
    if cube is None or cube.state != CubeState.ACTIVE:
        return ""
    if row.measured_from is None:
        _start(row, cube, now=now)
        return ""
    day = row.measured_from.astimezone(UTC).date()
    n, n_bytes = planned_since(row, day)
    used = _used_since(cube, day)
    n_asked = max(0, n - row.n_already) + used["n_queries"]
    read = max(0, n_bytes - row.bytes_already) + used["n_cube_bytes"]
    since = {
        "n_answered": used["n_queries"],
        "n_bytes": read,
        "n_bytes_saved": max(0, used["n_bytes"] - used["n_cube_bytes"]),
    }
    has_paid = has_answered(used["n_queries"], n_asked)
    if since != row.evidence.get("since") or n_asked != row.n_after:
        row.evidence = {**row.evidence, "since": since}
        row.n_after, row.bytes_after = n_asked, read
        row.save(update_fields=["evidence", "n_after", "bytes_after"])
    if has_paid:
        Advice.objects.filter(pk=row.pk).update(is_open=None)
    if has_paid is not False:
        return ""
    return (
        f"By itself: of {n_asked} queries since the first build the cube answered "
        f"{used['n_queries']}; a tenth is asked."
    )


def _start(row: Advice, cube: Cube, *, now: datetime) -> None:
    """Count from the first build that ended after the cube was defined."""
    if cube.built_at is not None and row.applied_at is not None and cube.built_at > row.applied_at:
        n, n_bytes = planned_since(row, now.astimezone(UTC).date())
        Advice.objects.filter(pk=row.pk, measured_from=None).update(
            measured_from=now, n_already=n, bytes_already=n_bytes
        )


def _used_since(cube: Cube, day: date) -> Mapping[str, int]:
    names = ("n_queries", "n_bytes", "n_cube_bytes")
    sums = cube.uses.filter(day__gte=day).aggregate(**{name: Sum(name) for name in names})
    return {name: sums[name] or 0 for name in names}
