"""Tells whether a layout, an index or a cube of a table serves scans that filter it in one way."""

from collections.abc import Collection, Iterable, Sequence

from optimizer.advice.domain.filters import POINTS, Filter, FilterKind
from optimizer.advice.domain.served import index_for
from optimizer.iceberg.indexing.domain.wanted import WantedIndex

_BY_ORDER = POINTS | {FilterKind.RANGE, FilterKind.PREFIX}
"""Filters for which files whose rows are in order are left out by least and greatest values."""


def is_served(
    filters: Sequence[Filter],
    *,
    layout: Collection[str],
    indexes: Iterable[WantedIndex],
    cubes: Iterable[Collection[str]],
) -> bool:
    """Whether anything that the table has serves one of the filters.

    `layout` are the columns by which its rows are ordered, `cubes` the dimensions of each of its
    cubes: one serves scans all of whose filters are on them. A scan without a filter reads all.
    """
    ordered = {name.lower() for name in layout}
    wanted = tuple(indexes)
    columns = {one.column for one in filters}
    return (
        any(one.column in ordered and one.kind in _BY_ORDER for one in filters)
        or any(index_for(one, wanted) is not None for one in filters)
        or any(columns <= {name.lower() for name in cube} for cube in cubes if columns)
    )
