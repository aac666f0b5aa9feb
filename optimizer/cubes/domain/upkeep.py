"""Composes a cube's coverage out of the one before: units that come, units that go."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from optimizer.cubes.domain.coverage import (
    AtSnapshot,
    Bound,
    Coverage,
    CoveredFile,
    JoinedTable,
    Unit,
    judge,
)
from portal.lake.errors import StaleState

_KEPT_SNAPSHOTS = 100


@dataclass(frozen=True, slots=True)
class NewUnit:
    """A unit whose rows were written: its files, and the table's rows that it counts."""

    number: int
    files: tuple[CoveredFile, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class Replacement:
    """Files of one partition that a rewrite took out, and those that it put in."""

    removed: tuple[CoveredFile, ...]
    added: tuple[CoveredFile, ...]


@dataclass(frozen=True, slots=True)
class Merge:
    """Units of which one new unit is made without reading data."""

    sources: tuple[int, ...]
    files: tuple[CoveredFile, ...]
    rows: int


@dataclass(frozen=True, slots=True)
class View:
    """The fact table and the joined ones as a run reads them."""

    definition_version: int
    table_uuid: str
    snapshot_id: int
    live: Sequence[CoveredFile]
    joined: Mapping[str, JoinedTable]
    checked: Mapping[str, JoinedTable] = field(default_factory=dict)
    """The snapshots of joined tables that were compared with those of `joined`."""


def composed(
    before: Coverage | None,
    view: View,
    *,
    add: Iterable[NewUnit] = (),
    drop: Collection[int] = (),
    bounds: Mapping[str, Bound] | None = None,
) -> Coverage:
    """Return the coverage with units added and dropped, judged at the snapshot of the view.

    A unit of which another builder has a file already is left out; its rows belong to no unit.

    Raises:
        StaleState: `cube.busy`, units of before are of other snapshots of a joined table.
    """
    files: dict[CoveredFile, None] = {}
    kept: list[NewUnit] = []
    is_exact = before is None or before.exact
    for unit in before.units if before is not None else ():
        if unit.number in drop:
            is_exact = is_exact and unit.rows == 0
            continue
        mine = tuple(before.files[n] for n in unit.files) if before is not None else ()
        kept.append(NewUnit(unit.number, mine, unit.rows))
        files |= dict.fromkeys(mine)
    if kept and before is not None:
        _check_joined(before, view)
    has_new = False
    for new in add:
        if any(one in files for one in new.files):
            is_exact = is_exact and new.rows == 0
            continue
        kept.append(new)
        files |= dict.fromkeys(new.files)
        has_new = True
    numbers = {one: n for n, one in enumerate(files)}
    live = set(view.live)
    units = tuple(
        Unit(
            one.number,
            tuple(numbers[file] for file in one.files),
            one.rows,
            all(file in live for file in one.files),
        )
        for one in kept
    )
    joined = view.joined
    if before is not None and kept and not has_new:
        # Nothing new was read: what was right under earlier snapshots still is.
        joined = {
            alias: JoinedTable(
                one.uuid,
                _last(before.joined[alias].snapshot_ids, one.snapshot_ids),
            )
            for alias, one in joined.items()
        }
    found = Coverage(
        definition_version=view.definition_version,
        table_uuid=view.table_uuid,
        cube_snapshot_id=before.cube_snapshot_id if before is not None else 0,
        snapshot_id=view.snapshot_id,
        exact=is_exact,
        joined=joined,
        files=tuple(files),
        units=units,
        bounds=_bounds(before, bounds or {}),
    )
    return _counted(found, view.live)


def mergeable(coverage: Coverage, replacements: Iterable[Replacement]) -> list[Merge]:
    """Return the merges that rewrites allow: only whole units went, and their rows add up.

    Only units of the coverage's own snapshot are looked at: from there on deletes make rows fewer
    and nothing makes them more, so equal sums mean equal rows. A unit of a snapshot that was
    rolled back may have as many rows as its file has now, and others.
    """
    owners: dict[str, int] = {}
    units: dict[int, tuple[tuple[CoveredFile, ...], int, tuple[int, ...]]] = {}
    for unit in coverage.units:
        if not unit.is_live:
            continue
        files = tuple(coverage.files[n] for n in unit.files)
        units[unit.number] = (files, unit.rows, (unit.number,))
        owners |= {file.location: unit.number for file in files}
    made: set[int] = set()
    for n, one in enumerate(replacements):
        sources = {owners.get(file.location) for file in one.removed}
        gone = {file.location for file in one.removed}
        if not one.added or not sources or None in sources:
            continue
        parts = [units[number] for number in sources if number is not None]
        is_whole = all(file.location in gone for files, _, _ in parts for file in files)
        if not is_whole or sum(p[1] for p in parts) != sum(file.records for file in one.added):
            continue
        for number in sources:
            if number is not None:
                units.pop(number)
                made.discard(number)
        mine = -1 - n
        sources_of = tuple(sorted({number for _, _, numbers in parts for number in numbers}))
        units[mine] = (one.added, sum(p[1] for p in parts), sources_of)
        owners |= {file.location: mine for file in one.added}
        made.add(mine)
    done = [units[one] for one in sorted(made, reverse=True)]
    return [Merge(sources_of, files, rows) for files, rows, sources_of in done]


def _last(before: tuple[int, ...], now: tuple[int, ...]) -> tuple[int, ...]:
    """Return both, the newest ones last, each once and no more than are of use."""
    old = [one for one in before if one not in now]
    return (*old, *now)[-_KEPT_SNAPSHOTS:]


def _check_joined(before: Coverage, view: View) -> None:
    for alias, one in view.joined.items():
        known = before.joined.get(alias)
        compared = view.checked.get(alias, one).snapshot_ids + one.snapshot_ids
        if known is None or known.uuid != one.uuid or known.snapshot_ids[-1] not in compared:
            raise _busy(alias)


def _busy(alias: str) -> StaleState:
    return StaleState(
        "cube.busy",
        f"Another run built this cube with another table as {alias}; the next run goes on.",
        alias=alias,
    )


def _bounds(before: Coverage | None, new: Mapping[str, Bound]) -> dict[str, Bound]:
    found = dict(before.bounds) if before is not None else {}
    for name, one in new.items():
        old = found.get(name, Bound())
        known = [n for n in (old.max_abs, one.max_abs) if n is not None]
        found[name] = Bound(max(known) if known else None, old.negative_zero or one.negative_zero)
    return found


def _counted(coverage: Coverage, live: Sequence[CoveredFile]) -> Coverage:
    found = judge(coverage, snapshot_id=coverage.snapshot_id, live=live)
    at = AtSnapshot(found.covered_rows, found.uncovered_rows, found.uncovered_files)
    return replace(coverage, at_snapshot=at)
