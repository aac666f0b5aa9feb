"""Reads which indexes a policy asks for: `column[:kind[:parameter]]`, checked as far as names go.

Whether a column exists and has a type for its kind is known only at the table (`jobs.columns`).
"""

import re
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from optimizer.indexes.domain.envelope import Kind
from portal.lake.errors import RuleViolation

AUTO = "auto"
COST = "Not worth its cost: "
"""So begins the reason why an index is refused for a whole table, by its figures."""
MOST_COLUMNS = 16
LEAST_BITS, MOST_BITS = 4, 32
INDEXED_AT, INDEXED_FOR = "indexed_snapshot_id", "indexed_columns"
"""Among the numbers after a task: which snapshot has all indexes, and by which list."""
_FORM = re.compile(r"(?P<column>[^:].*?)(:(?P<kind>[a-z_]+)(:(?P<parameter>[0-9]+))?)?", re.DOTALL)
_KINDS = (AUTO, *(kind.value for kind in Kind))
_OF_BITS = frozenset({Kind.BLOOM, Kind.BLOOMRF, Kind.WORD_BLOOM})
_OF_LENGTH = frozenset({Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})


@dataclass(frozen=True, slots=True)
class WantedIndex:
    """One index that is asked for; the parameter is bits a key, or the n of n-grams."""

    column: str
    kind: str = AUTO
    parameter: int | None = None

    def __str__(self) -> str:
        if self.parameter is not None:
            return f"{self.column}:{self.kind}:{self.parameter}"
        return self.column if self.kind == AUTO else f"{self.column}:{self.kind}"


def parse_wanted(text: str) -> WantedIndex:
    """Read one entry.

    Raises:
        RuleViolation: `index.form`, `index.kind` or `index.parameter`.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise RuleViolation(
            "index.form",
            f"'{text}' is no index: write a column, a column and a kind (id:bloom), or a kind with "
            "its parameter (id:bloom:12).",
        )
    column, kind, parameter = found["column"].strip(), found["kind"] or AUTO, found["parameter"]
    if kind not in _KINDS:
        raise RuleViolation(
            "index.kind",
            f"'{text}': there is no index kind {kind}. The kinds are {', '.join(_KINDS)}.",
        )
    number = None if parameter is None else int(parameter)
    _check_parameter(text, kind, number)
    return WantedIndex(column, kind, number)


def parse_all_wanted(texts: Iterable[str]) -> tuple[WantedIndex, ...]:
    """Read a policy's list; an entry that is there twice counts once.

    Raises:
        RuleViolation: as `parse_wanted`, and `index.columns`.
    """
    found = tuple(dict.fromkeys(parse_wanted(one) for one in texts if one.strip()))
    columns = {one.column for one in found}
    if len(columns) > MOST_COLUMNS:
        raise RuleViolation(
            "index.columns",
            f"{len(columns)} columns are to be indexed, at most {MOST_COLUMNS} can be. Name those "
            "that queries filter by.",
        )
    _check_once(found)
    return found


def coverage_part(task: int) -> str:
    """Return under which name the spool of a run has the rows of a task's coverage."""
    return f"index_coverage_{task}"


def mark_of(wanted: Iterable[WantedIndex]) -> int:
    """Return a number by which a list of indexes is known again; their order does not matter."""
    return zlib.crc32("\n".join(sorted(map(str, wanted))).encode())


def _check_once(found: Sequence[WantedIndex]) -> None:
    seen: dict[tuple[str, str], WantedIndex] = {}
    for one in found:
        other = seen.setdefault((one.column, one.kind), one)
        if other is not one:
            raise RuleViolation(
                "index.columns", f"'{other}' and '{one}' contradict each other; keep one of them."
            )


def _check_parameter(text: str, kind: str, number: int | None) -> None:
    if number is None:
        return
    if kind in _OF_BITS and LEAST_BITS <= number <= MOST_BITS:
        return
    if kind in _OF_LENGTH and 1 <= number <= 3:
        return
    raise RuleViolation(
        "index.parameter",
        f"'{text}': {number} is no parameter of {kind}. Filters take {LEAST_BITS} to {MOST_BITS} "
        "bits a key, n-grams a length of 1, 2 or 3, other kinds nothing.",
    )
