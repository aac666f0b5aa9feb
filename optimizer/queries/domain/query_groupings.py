"""Says what a recorded query grouped its facts by, from what its engine told or from its text."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from optimizer.advice.domain.stars.groupings import StarGrouping, star_groupings
from optimizer.queries.domain.query_record import QueryRecord
from optimizer.queries.domain.query_text import ReadText, read_text, unnamed


@dataclass(frozen=True, slots=True)
class Grouped:
    """The groupings of one query; `problem` says why they could not be read."""

    groupings: tuple[StarGrouping, ...] = ()
    shape: str = ""
    tables: tuple[str, ...] = ()
    problem: str = ""

    def shares(self) -> list[tuple[StarGrouping, int]]:
        """Return each grouping, with how many of the query's SELECTs have its fact."""
        times = Counter(one.table for one in self.groupings)
        return [(one, times[one.table]) for one in self.groupings]


def groupings_of(
    query: QueryRecord, columns: Mapping[str, Collection[str]], read: Mapping[str, int]
) -> Grouped:
    """Return what a query groups by.

    `columns` has the known tables that it scanned, with the types of their columns, `read` what it
    read of each, by `db.table`.
    """
    if query.is_failed or not columns or not (query.text or query.asked):
        return Grouped()
    text = read_text(query, columns) if query.text else ReadText()
    asked = query.asked or text.asked
    is_told = bool(query.asked) or not text.is_query
    problem = "" if is_told else text.problem or unnamed(asked, read)
    if problem:
        return Grouped(problem=problem)
    return Grouped(tuple(star_groupings(asked, read)), text.shape, text.tables)
