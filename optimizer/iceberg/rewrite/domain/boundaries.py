"""Maps column values to small numbers, so that all columns have the same weight.

A sample's quantiles are the boundaries; a value's id is how many of them are not above it. Files
laid out by the same boundaries can be compared, so they are stored (as JSON) and used again.

A sample knows its quantiles only about, and people ask for round numbers. So where asked the
boundaries between the greater cells of a curve are round: "below 500000" opens no file that begins
at 499213.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from optimizer.iceberg.rewrite.domain.curves import Ids
from optimizer.iceberg.rewrite.domain.value_forms import Form
from portal.lake.errors import RuleViolation

N_IDS = 256
BITS = 10
# Into so many parts a column is cut by a curve's greater cells; there the round numbers are.
_CELLS = 16
# A round number is sought up to here, in shares of an id: the next boundary stays beyond it.
_REACH = 0.9
# With fewer values than this for each id there is no room between them.
_MANY = 8
_STEPS = [factor * 10**power for power in range(18, -1, -1) for factor in (5, 1)]
MOST_TEXT = 256  # characters of a boundary; longer beginnings in common are not told apart

Values = NDArray[Any]


@dataclass(frozen=True, slots=True)
class ColumnBoundaries:
    """The boundaries of one column in their stored form: ascending, none twice."""

    column: str
    form: str
    values: tuple[int | str, ...]  # doubles as Python writes them: JSON knows no NaN

    @classmethod
    def of_sample(
        cls, column: str, form: str, sample: Values, *, n_ids: int = N_IDS, is_round: bool = False
    ) -> Self:
        """Take the quantiles of a sample without nulls; an empty one has no boundaries.

        `is_round` takes round numbers near some of them, for which a few ids differ in size.
        """
        if form == Form.TEXT:
            # Broken characters are replaced: a boundary has to be a text in JSON.
            sample = np.array([bytes(one).decode(errors="replace") for one in sample], dtype=object)
        elif form == Form.REAL:
            sample = sample + 0.0  # -0.0 is 0.0
        distinct, counts = np.unique(sample, return_counts=True)
        ends = np.cumsum(counts)
        places = np.arange(1, n_ids) * len(sample) // n_ids
        if not len(sample):
            return cls(column, form, ())
        chosen = np.unique(np.searchsorted(ends, places, side="right"))
        if form == Form.TEXT:
            below = ["", *distinct[:-1]]
            texts = {_shortest(below[one], distinct[one]) for one in chosen}
            return cls(column, form, tuple(sorted(texts)))
        edges = distinct[chosen]
        is_whole = form.startswith((Form.WHOLE, Form.SCALED))
        if is_round and is_whole and len(edges) == n_ids - 1 and len(distinct) > _MANY * n_ids:
            coarse = np.arange(1, _CELLS) * (n_ids // _CELLS) - 1
            reach = int(_REACH * len(sample) / n_ids)
            around = (places[coarse] - reach, places[coarse] + reach)
            low, high = (distinct[np.searchsorted(ends, at, side="right")] for at in around)
            edges[coarse] = _roundest(low, np.minimum(high, edges[coarse + 1] - 1))
        told = edges.tolist()
        return cls(column, form, tuple(map(repr, told) if form == Form.REAL else told))


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The boundaries of a layout's columns, and how many bits each column has in the key."""

    columns: tuple[ColumnBoundaries, ...]
    bits: int = BITS

    def as_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        columns = [
            {"column": one.column, "form": one.form, "values": list(one.values)}
            for one in self.columns
        ]
        return {"bits": self.bits, "columns": columns}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Self:
        """Read the JSON form: equal to what was written.

        Raises:
            RuleViolation: `boundaries.stored`.
        """
        try:
            columns = tuple(
                ColumnBoundaries(str(one["column"]), str(one["form"]), tuple(one["values"]))
                for one in stored["columns"]
            )
            found = cls(columns, int(stored["bits"]))
            found.ranks()
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise RuleViolation(
                "boundaries.stored",
                f"The stored boundaries cannot be read ({error!r}). Remove them, so that the next "
                "run takes a new sample.",
            ) from error
        return found

    def ranks(self) -> list["Ranks"]:
        """Make what gives the ids, one a column, in the columns' order."""
        return [Ranks(column, bits=self.bits) for column in self.columns]


class Ranks:
    """The boundaries of one column, ready to give ids to many values."""

    def __init__(self, boundaries: ColumnBoundaries, *, bits: int) -> None:
        self.edges = _edges(boundaries)
        last = len(self.edges)
        if np.unique(self.edges).tobytes() != self.edges.tobytes():
            raise ValueError(f"the boundaries of {boundaries.column} do not ascend")
        # Every column fills the same bits; else the one with the most ids decides alone.
        filled = np.arange(last + 1, dtype=np.int64) * ((1 << bits) - 1) // max(last, 1)
        self.ids: Ids = filled.astype(np.uint32)

    def __call__(self, values: Values, *, is_null: NDArray[np.bool_] | None = None) -> Ids:
        """Return the id of each value; nulls have id 0, whatever stands in their place."""
        # A text is cut to the longest boundary's length: what comes later decides nothing.
        counts = np.searchsorted(self.edges, values.astype(self.edges.dtype), side="right")
        if is_null is not None:
            counts[is_null] = 0
        found: Ids = self.ids[counts]
        return found


def _edges(boundaries: ColumnBoundaries) -> Values:
    form = Form(boundaries.form.partition("(")[0])
    if form is Form.TEXT:
        return np.array([str(one).encode() for one in boundaries.values], dtype=np.bytes_)
    if form is Form.REAL:
        return np.array([float(one) for one in boundaries.values], dtype=np.float64)
    return np.array(boundaries.values, dtype=np.int64)


def _roundest(low: Values, high: Values) -> Values:
    """Return for each pair the number with the most zeros above the first, up to the second."""
    found, is_open = high.copy(), low < high
    for step in _STEPS:
        # Below the smallest long a multiple comes out as a big one.
        multiple = high // step * step
        fits = is_open & (multiple > low) & (multiple <= high)
        found[fits] = multiple[fits]
        is_open &= ~fits
    return found


def _shortest(below: str, text: str) -> str:
    """Return the shortest beginning of a text that is above the next one below it in the sample.

    No more of people's data is stored than is needed. NULs at the end mean nothing in an array of
    bytes, so a boundary has none.
    """
    pairs = enumerate(zip(below, text, strict=False))
    common = next((place for place, (one, other) in pairs if one != other), len(below))
    return text[: min(common + 1, MOST_TEXT)].rstrip("\0")
