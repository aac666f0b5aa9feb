"""Defines a cube, changes it by a new version, and has it rebuilt; each with a reason.

A definition comes from an estimate that found nothing wrong with it. Who answers for the table, as
for its policy, may do so, and must be able to see the joined tables.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction

from optimizer.cubes.domain.definition import as_json, parse
from optimizer.cubes.domain.states import BUILT, CubeState
from optimizer.cubes.services.estimates import check_answers, check_joins, usable_estimate
from optimizer.models import Cube, CubeVersion, IcebergTable
from portal.access.models import User
from portal.audit.services import audit_record
from portal.lake.errors import RuleViolation, StaleState
from portal.lake.reasons import check_reason
from portal.runs.models import Run

MAX_CUBES = 20
"""Each commit is read for every cube of its table."""


def cube_declare(
    table: IcebergTable, definition: Mapping[str, Any], *, user: User, reason: str, now: datetime
) -> Cube:
    """Define a cube without an estimate, for programs that know it; each build checks it.

    Declared again as it is, it stays; otherwise as `cube_define` of a name that is taken.

    Raises:
        As `cube_define`; RuleViolation: `cube.definition`, `cube.expression`.
    """
    check_answers(table, user)
    reason = parse_reason(reason)
    whole = as_json(parse({**definition, "table": {"name": str(table), "uuid": table.uuid}}))
    check_joins(table, whole, user)
    known = table.cubes.filter(name=whole["name"], is_there=True).first()
    if known is not None and _meaning(current_version(known).definition) == _meaning(whole):
        return known
    return _made(table, {"definition": whole}, by=user.username, reason=reason, now=now)


def cube_define(
    table: IcebergTable, estimate: Run, *, user: User, reason: str, now: datetime
) -> Cube:
    """Define a cube as an estimate has it; of two people who give one name the second is refused.

    Raises:
        NotVisible, NotAllowed: whoever does not answer for the table, or may not see a joined one.
        RuleViolation: `cube.reason`, `cube.refused`, `cube.most`.
        StaleState: `cube.estimate`, `cube.name`.
    """
    found, reason = _checked(table, estimate, user=user, reason=reason)
    return _made(table, found, by=user.username, reason=reason, now=now)


def _made(
    table: IcebergTable, found: Mapping[str, Any], *, by: str, reason: str, now: datetime
) -> Cube:
    name = found["definition"]["name"]
    if table.cubes.filter(is_there=True).count() >= MAX_CUBES:
        raise RuleViolation("cube.most", f"{table} has {MAX_CUBES} cubes; drop one first.")
    taken = StaleState("cube.name", f"{table} has a cube {name} already.", field="name")
    if table.cubes.filter(name=name, is_there=True).exists():
        raise taken
    try:
        with transaction.atomic():
            cube = Cube.objects.create(table=table, name=name, created_by=by, created_at=now)
            _version(cube, found, version=1, by=by, reason=reason, at=now)
            cube_audit("optimizer.cube_defined", cube, by=by, reason=reason, now=now)
            decide_again(table, now=now)
    except IntegrityError as error:
        raise taken from error
    return cube


def cube_change(
    cube: Cube, estimate: Run, *, seen: int, user: User, reason: str, now: datetime
) -> Cube:
    """Give a cube the definition of an estimate, as its next version; it is rebuilt.

    `seen` is the version that stood on the page. The same change twice is StaleState the second
    time.

    Raises:
        As `cube_define`; StaleState: `cube.changed`; RuleViolation: `cube.same`.
    """
    found, reason = _checked(cube.table, estimate, user=user, reason=reason)
    if found["definition"]["name"] != cube.name:
        raise RuleViolation("cube.name", f"A cube keeps its name: write {cube.name}.", field="name")
    if _meaning(found["definition"]) == _meaning(current_version(cube).definition):
        raise RuleViolation("cube.same", "Nothing would change; use Rebuild to rebuild it.")
    _replace(cube, found, seen=seen, by=user.username, reason=reason, now=now)
    return cube


def cube_rebuild(cube: Cube, *, user: User, reason: str, now: datetime) -> Cube:
    """Have a cube rebuilt from all files: the same definition, as its next version.

    Called twice it is rebuilt twice, unless the first has not begun.

    Raises:
        NotVisible, NotAllowed: whoever does not answer for the table.
        RuleViolation: `cube.reason`; StaleState: `cube.state`, it is paused or dropped.
    """
    check_answers(cube.table, user)
    reason = parse_reason(reason)
    if cube.state not in BUILT:
        raise StaleState("cube.state", f"{cube} is {cube.state.lower()}; resume it first.")
    last = current_version(cube)
    found = {"definition": last.definition, **last.estimate}
    _replace(cube, found, seen=cube.version, by=user.username, reason=reason, now=now)
    return cube


def current_version(cube: Cube) -> CubeVersion:
    """Return the definition that holds now."""
    return cube.versions.get(version=cube.version)


def parse_reason(reason: str) -> str:
    """Return why somebody asks.

    Raises:
        RuleViolation: `cube.reason`.
    """
    check_reason(reason, "cube.reason", "Enter a reason; it is kept in the history.")
    return reason.strip()


def cube_audit(
    action: str, cube: Cube, *, by: str, reason: str, now: datetime, **data: object
) -> None:
    """Write down what somebody did to a cube."""
    audit_record(
        action,
        actor=by,
        lake=cube.table.lake,
        object_type="table",
        object_id=str(cube.table),
        data={
            "uuid": cube.table.uuid,
            "cube": cube.name,
            "version": cube.version,
            **data,
            "reason": reason,
        },
        now=now,
    )


def decide_again(table: IcebergTable, *, now: datetime) -> None:
    """Let the optimizer decide on a table at its next turn, without waiting for a commit."""
    IcebergTable.objects.filter(pk=table.pk).update(decide_again_at=now)


def _checked(
    table: IcebergTable, estimate: Run, *, user: User, reason: str
) -> tuple[Mapping[str, Any], str]:
    check_answers(table, user)
    reason = parse_reason(reason)
    found = usable_estimate(table, estimate)
    check_joins(table, found["definition"], user)
    return found, reason


def _replace(
    cube: Cube, found: Mapping[str, Any], *, seen: int, by: str, reason: str, now: datetime
) -> None:
    with transaction.atomic():
        free = Cube.objects.filter(pk=cube.pk, version=seen, state__in=BUILT | {CubeState.PAUSED})
        if not free.update(version=seen + 1):
            raise StaleState(
                "cube.changed", f"Somebody changed {cube} just now, or dropped it; reload the page."
            )
        cube.refresh_from_db()
        _version(cube, found, version=seen + 1, by=by, reason=reason, at=now)
        cube_audit("optimizer.cube_changed", cube, by=by, reason=reason, now=now)
        decide_again(cube.table, now=now)


def _version(
    cube: Cube, found: Mapping[str, Any], *, version: int, by: str, reason: str, at: datetime
) -> None:
    CubeVersion.objects.create(
        cube=cube,
        version=version,
        definition={**found["definition"], "definition_version": version},
        estimate={key: value for key, value in found.items() if key != "definition"},
        by=by,
        at=at,
        reason=reason,
    )


def _meaning(definition: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in definition.items() if key != "definition_version"}
