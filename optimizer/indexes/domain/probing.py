"""Decides from the indexes of one data file whether a query may skip it, and which rows are left.

A condition has two sets of rows: those of which it may be true, and those of which it may be false.
Both are supersets, and a null is in neither. So NOT swaps them, and what is not known is in both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyroaring import BitMap

from optimizer.indexes.domain.bitmaps.reading import RowBitmaps
from optimizer.indexes.domain.bloom import Bloom
from optimizer.indexes.domain.bloomrf import BloomRF
from optimizer.indexes.domain.envelope import Expected, Form, Kind, Refusal, refusal, unwrap
from optimizer.indexes.domain.leaf_probes import Answer, Opened, all_rows, answer
from optimizer.indexes.domain.predicates import And, Leaf, Not, Or, Predicate, Unknown

_FILTERS = frozenset({Form.BLOOM, Form.WORD_BLOOM, Form.NGRAM_BLOOM})


@dataclass(frozen=True)
class Verdict:
    """Whether the data file is read, and why."""

    rows: BitMap | None
    """The rows that may satisfy the query, a superset; None: any row."""
    used: tuple[tuple[int, Kind], ...] = ()
    """Field and kind of each index that left out rows."""
    unanswered: tuple[str, ...] = ()
    """What no index answered."""

    @property
    def keep(self) -> bool:
        """Whether the data file must be read."""
        return self.rows is None or bool(self.rows)


def opened(blob: bytes, expected: Expected) -> Opened | Refusal:
    """Return the index of a blob, or why it is not used."""
    found = unwrap(blob)
    if isinstance(found, Refusal):
        return found
    header, body = found
    if (why := refusal(header, expected)) is not None:
        return why
    try:
        if header.form in _FILTERS:
            return Opened(header, Bloom.read(body), expected.type)
        if header.form == Form.BLOOMRF:
            return Opened(header, BloomRF.read(body), expected.type)
        return Opened(header, RowBitmaps.read(header, body), expected.type)
    except ValueError:
        return Refusal.BODY


def probe(predicate: Predicate, indexes: Iterable[Opened], rows: int) -> Verdict:
    """Return whether the data file of so many rows can be skipped, by these indexes of it."""
    asking = _Probe(list(indexes), rows)
    true = asking.of(predicate).true
    left = None if len(true) == rows else true
    return Verdict(left, tuple(asking.used), tuple(asking.unanswered))


@dataclass
class _Probe:
    indexes: Sequence[Opened]
    rows: int
    used: dict[tuple[int, Kind], None] = field(default_factory=dict)
    unanswered: dict[str, None] = field(default_factory=dict)

    def of(self, predicate: Predicate) -> Answer:
        if isinstance(predicate, And):
            parts = [self.of(part) for part in predicate.parts]
            return Answer(self._shared(one.true for one in parts), _any(p.false for p in parts))
        if isinstance(predicate, Or):
            parts = [self.of(part) for part in predicate.parts]
            return Answer(_any(one.true for one in parts), self._shared(p.false for p in parts))
        if isinstance(predicate, Not):
            part = self.of(predicate.part)
            return Answer(part.false, part.true)
        if isinstance(predicate, Unknown):
            self.unanswered[predicate.reason] = None
            return self._all()
        return self._leaf(predicate)

    def _leaf(self, leaf: Leaf) -> Answer:
        found, answered = self._all(), False
        for index in self.indexes:
            if index.header.field_id == leaf.field_id:
                said = _said(leaf, index)
                if said is not None:
                    answered = True
                    found = Answer(found.true & said.true, found.false & said.false)
                    if len(said.true) < self.rows:
                        self.used[leaf.field_id, index.header.form.kind] = None
        if not answered:
            self.unanswered[f"no index answers for field {leaf.field_id}"] = None
        return found

    def _all(self) -> Answer:
        whole = all_rows(self.rows)
        return Answer(whole, whole)

    def _shared(self, sets: Iterable[BitMap]) -> BitMap:
        left = all_rows(self.rows)
        for one in sets:
            left = left & one
        return left


def _any(sets: Iterable[BitMap]) -> BitMap:
    return BitMap.union(BitMap(), *sets)


def _said(leaf: Leaf, index: Opened) -> Answer | None:
    try:
        return answer(leaf, index)
    except ValueError:
        return None  # A bitmap inside is damaged: the index is as good as missing.
