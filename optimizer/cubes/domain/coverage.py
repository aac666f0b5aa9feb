"""Coverage of a cube (docs/cubes.md): which data files its units stand for, and in what snapshot.

Coverage is advice: what cannot be trusted is refused with a reason, and the cube is not used.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from portal.lake.errors import RuleViolation

FORMAT = "lakewarden-cube-coverage"
VERSION = 1
MOST_BYTES = 1 << 30
_EXACT_JSON = 1 << 53
_FINGERPRINT = 16


@dataclass(frozen=True, slots=True)
class CoveredFile:
    """A data file as it was when its rows were read."""

    location: str
    records: int
    deletes: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """A set of data files whose rows are in the cube; `rows` of the table are counted in it."""

    number: int
    files: tuple[int, ...]
    rows: int
    is_live: bool


@dataclass(frozen=True, slots=True)
class JoinedTable:
    """The snapshots of a joined table under which all units are right."""

    uuid: str
    snapshot_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Bound:
    """The greatest absolute value of a measure's numbers, and whether a float has -0."""

    max_abs: int | None = None
    negative_zero: bool = False


@dataclass(frozen=True, slots=True)
class AtSnapshot:
    """How much is covered at the coverage's own snapshot."""

    covered_rows: int
    uncovered_rows: int
    uncovered_files: int


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a cube's table stands for, read at `cube_snapshot_id`."""

    definition_version: int
    table_uuid: str
    cube_snapshot_id: int
    snapshot_id: int
    exact: bool = True
    joined: Mapping[str, JoinedTable] = field(default_factory=dict)
    files: tuple[CoveredFile, ...] = ()
    units: tuple[Unit, ...] = ()
    at_snapshot: AtSnapshot = AtSnapshot(0, 0, 0)
    bounds: Mapping[str, Bound] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What of a cube counts in one snapshot.

    `uncovered` is None where no files were given: `uncovered_files` says how many there are.
    """

    units: tuple[int, ...]
    uncovered: tuple[str, ...] | None
    covered_rows: int
    uncovered_rows: int
    uncovered_files: int

    @property
    def uncovered_share(self) -> float:
        """The share of the table's rows that must be read freshly."""
        n_rows = self.covered_rows + self.uncovered_rows
        return self.uncovered_rows / n_rows if n_rows else 0.0


def delete_fingerprint(deletes: Iterable[tuple[str, int | None]]) -> str:
    """Return the fingerprint of delete files, given as (location, content offset or None)."""
    lines = sorted(name if at is None else f"{name}@{at}" for name, at in deletes)
    if not lines:
        return ""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:_FINGERPRINT]


def judge(
    coverage: Coverage, *, snapshot_id: int, live: Iterable[CoveredFile] | None = None
) -> Judgement:
    """Return which units count in a snapshot, and what is left to be read freshly.

    Without `live` the coverage's own snapshot is meant; any other needs the snapshot's files.

    Raises:
        RuleViolation: `cube.coverage`, another snapshot without its files.
    """
    if live is None:
        if snapshot_id != coverage.snapshot_id:
            raise _refused("is of another snapshot; the files of this one must be planned", "other")
        at = coverage.at_snapshot
        units = tuple(one.number for one in coverage.units if one.is_live)
        return Judgement(units, None, at.covered_rows, at.uncovered_rows, at.uncovered_files)
    files = tuple(live)
    there = set(files)
    found = [u for u in coverage.units if all(coverage.files[n] in there for n in u.files)]
    covered = {coverage.files[n] for unit in found for n in unit.files}
    uncovered = [one for one in files if one not in covered]
    return Judgement(
        tuple(one.number for one in found),
        tuple(one.location for one in uncovered),
        sum(one.records for one in files) - sum(one.records for one in uncovered),
        sum(one.records for one in uncovered),
        len(uncovered),
    )


def serialise(coverage: Coverage) -> bytes:
    """Return the bytes of the file; the same coverage gives the same bytes."""
    data = {
        "format": FORMAT,
        "version": VERSION,
        "definition_version": coverage.definition_version,
        "table_uuid": coverage.table_uuid,
        "cube_snapshot_id": coverage.cube_snapshot_id,
        "exact": coverage.exact,
        "snapshot_id": coverage.snapshot_id,
        "dimensions": {
            alias: {"uuid": one.uuid, "snapshot_ids": list(one.snapshot_ids)}
            for alias, one in coverage.joined.items()
        },
        "files": [[one.location, one.records, one.deletes] for one in coverage.files],
        "units": [
            [one.number, list(one.files), one.rows, int(one.is_live)] for one in coverage.units
        ],
        "at_snapshot": {
            "covered_rows": coverage.at_snapshot.covered_rows,
            "uncovered_rows": coverage.at_snapshot.uncovered_rows,
            "uncovered_files": coverage.at_snapshot.uncovered_files,
        },
        "bounds": {
            name: {"max_abs": _number(one.max_abs), "negative_zero": one.negative_zero}
            for name, one in coverage.bounds.items()
        },
    }
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), compresslevel=6, mtime=0)


def parse(
    source: bytes, *, table_uuid: str | None = None, definition_version: int | None = None
) -> Coverage:
    """Return a coverage that can be trusted; the table and the definition must be these, if given.

    Raises:
        RuleViolation: `cube.coverage`; its field `why` is damaged, newer, foreign or stale.
    """
    try:
        data = json.loads(_unpacked(source))
        if data["format"] != FORMAT:
            raise _refused("is of another format", "foreign")
        if data["version"] != VERSION:
            raise _refused(f"is of version {data['version']!r}, newer than this program", "newer")
        found = _read(data)
        _check(found)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, IndexError) as error:
        raise _refused(f"is damaged: {type(error).__name__} {error}", "damaged") from error
    if table_uuid is not None and found.table_uuid != table_uuid:
        raise _refused("is of another table that had this name", "foreign")
    if definition_version is not None and found.definition_version != definition_version:
        raise _refused(
            f"is of version {found.definition_version} of the definition, which is at "
            f"{definition_version} now; the cube must be built",
            "stale",
        )
    return found


def _unpacked(source: bytes) -> bytes:
    try:
        unpacking = zlib.decompressobj(31)
        text = unpacking.decompress(source, MOST_BYTES)
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if not unpacking.eof:
        raise ValueError("the file is cut off or too large")
    return text


def _read(data: Mapping[str, Any]) -> Coverage:
    at = data["at_snapshot"]
    return Coverage(
        definition_version=_whole(data["definition_version"]),
        table_uuid=_text(data["table_uuid"]),
        cube_snapshot_id=_whole(data["cube_snapshot_id"]),
        snapshot_id=_whole(data["snapshot_id"]),
        exact=_flag(data["exact"]),
        joined={
            _text(alias): JoinedTable(_text(one["uuid"]), tuple(map(_whole, one["snapshot_ids"])))
            for alias, one in data["dimensions"].items()
        },
        files=tuple(CoveredFile(_text(a), _whole(n), _text(d)) for a, n, d in data["files"]),
        units=tuple(
            Unit(_whole(number), tuple(map(_whole, files)), _whole(rows), _live(live))
            for number, files, rows, live in data["units"]
        ),
        at_snapshot=AtSnapshot(
            _whole(at["covered_rows"]), _whole(at["uncovered_rows"]), _whole(at["uncovered_files"])
        ),
        bounds={
            _text(name): Bound(_bound(one["max_abs"]), _flag(one["negative_zero"]))
            for name, one in data["bounds"].items()
        },
    )


def _check(coverage: Coverage) -> None:
    """Refuse what would count a row twice."""
    numbers = [one.number for one in coverage.units]
    if len(set(numbers)) != len(numbers):
        raise ValueError("a unit is there twice")
    if len(set(coverage.files)) != len(coverage.files):
        raise ValueError("a file is there twice")
    owned: set[int] = set()
    for unit in coverage.units:
        for n in unit.files:
            if not 0 <= n < len(coverage.files):
                raise ValueError(f"unit {unit.number} names file {n}, which is not there")
            if n in owned:
                raise ValueError(f"file {n} is in two units")
            owned.add(n)
        if not unit.files:
            raise ValueError(f"unit {unit.number} has no files")
    names = [coverage.files[n].location for u in coverage.units if u.is_live for n in u.files]
    if len(set(names)) != len(names):
        raise ValueError("a location is in two live units")


def _bound(value: Any) -> int | None:
    return None if value is None else int(value) if isinstance(value, str) else _whole(value)


def _number(value: int | None) -> int | str | None:
    return str(value) if value is not None and value > _EXACT_JSON else value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _live(value: Any) -> bool:
    if value not in (0, 1):
        raise ValueError(f"a unit is live 0 or 1, not {value!r}")
    return bool(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def _refused(text: str, why: str) -> RuleViolation:
    return RuleViolation("cube.coverage", f"The cube's coverage {text}.", why=why)
