"""Tells which recorded filters file indexes answer already, so that a layout need not."""

from collections.abc import Iterable, Mapping

from optimizer.advice.domain.filters import POINTS, Filter, FilterKind
from optimizer.iceberg.indexing.domain.wanted import AUTO, WantedIndex
from optimizer.indexes.domain.envelope import Kind

_PARTS = {FilterKind.PREFIX, FilterKind.CONTAINS}
_ANSWERS: Mapping[str, frozenset[FilterKind]] = {
    AUTO: POINTS,
    Kind.BLOOM: POINTS,
    Kind.BITMAP: POINTS | {FilterKind.RANGE},
    Kind.BLOOMRF: POINTS | {FilterKind.RANGE},
    Kind.NGRAM_BLOOM: frozenset(_PARTS),
    Kind.NGRAM_BITMAP: frozenset(_PARTS),
}
"""Indexes of words find whole words alone, which reports do not tell from other parts of a text."""


def index_for(one: Filter, indexes: Iterable[WantedIndex]) -> WantedIndex | None:
    """Return the index of a policy that answers a filter, if one does."""
    for index in indexes:
        if index.column.lower() == one.column and one.kind in _ANSWERS.get(index.kind, frozenset()):
            return index
    return None
