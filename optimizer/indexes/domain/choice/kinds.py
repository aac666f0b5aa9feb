"""Which kind of index fits a column, and for each other kind why not.

The figures behind the limits are measured: bytes a row of bitmaps by cardinality, and false
positives of filters by bits a key.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from optimizer.indexes.domain.bitmaps.building import MOST_BY_EQUALITY, MOST_VALUES
from optimizer.indexes.domain.bloom import MOST_KEYS
from optimizer.indexes.domain.builders import unfit
from optimizer.indexes.domain.choice.profile import ColumnProfile
from optimizer.indexes.domain.envelope import Kind
from optimizer.indexes.domain.values import ValueClass
from portal.lake.counts import count_words

UNIQUE = 0.5
"""From this share of distinct values among rows on, a bitmap is larger than a filter."""
SORTED = 1.5
"""Files that the bounds let through, times those that hold a value: sorted enough below this."""
NARROW = 3.0
"""A range that meets more keys of a file than this is hardly ever empty there."""
NGRAM = 3


OF_PIECES = frozenset({Kind.WORD_BLOOM, Kind.WORD_BITMAP, Kind.NGRAM_BLOOM, Kind.NGRAM_BITMAP})
"""Their gain is not estimated: how rare a searched word is, whole values do not tell."""


class Use(StrEnum):
    """How queries ask for a column."""

    POINT = "point"
    """`=` and IN."""
    RANGE = "range"
    """`<`, `>` and BETWEEN."""
    WORD = "word"
    """A whole word in the text."""
    PART = "part"
    """LIKE, contains, begins with, ends with."""


@dataclass(frozen=True)
class Choice:
    """The kind that fits, or none, and why not each of the others."""

    kind: Kind | None
    reason: str
    why_not: Mapping[Kind, str] = field(default_factory=dict)


def uses_by_type(value_class: ValueClass) -> frozenset[Use]:
    """Return how a column of this class is asked for where no query log says it."""
    if value_class in {ValueClass.STRING, ValueClass.UUID, ValueClass.BINARY, ValueClass.BOOLEAN}:
        return frozenset({Use.POINT})
    return frozenset({Use.POINT, Use.RANGE})


def choose_for(profile: ColumnProfile, uses: Collection[Use]) -> Choice:
    """Return the kind that is built where a policy leaves it to the portal.

    `uses` is how recorded scans ask for the column; without any its type says it.
    """
    choice = choose(profile, uses or uses_by_type(profile.type.value_class))
    if choice.kind not in OF_PIECES:
        return choice
    # Row numbers of parts take as much as the text; who wants them names that kind.
    return Choice(Kind.NGRAM_BLOOM, "recorded scans look for parts of its text", choice.why_not)


def choose(
    profile: ColumnProfile, uses: Collection[Use], *, range_share: float | None = None
) -> Choice:
    """Return the kind for a column that is asked for in these ways.

    `range_share` is the usual width of a range as a share of the column's values, if known.
    """
    if profile.distinct < 2:
        return Choice(None, "it has one value: least and greatest say as much")
    why_not = {
        kind: why
        for kind in Kind
        if (why := _why_not(kind, profile, uses, range_share)) is not None
    }
    left = [kind for kind in _PREFERRED if kind not in why_not]
    if not left:
        return Choice(None, "no kind fits how it is asked for", why_not)
    best, *others = left
    for kind in others:
        why_not[kind] = f"{best.value} answers the same and more"
    return Choice(best, _reason(best, profile), why_not)


_PREFERRED = (
    Kind.NGRAM_BITMAP,
    Kind.NGRAM_BLOOM,
    Kind.WORD_BITMAP,
    Kind.WORD_BLOOM,
    Kind.BITMAP,
    Kind.BLOOMRF,
    Kind.BLOOM,
)


def _why_not(
    kind: Kind, profile: ColumnProfile, uses: Collection[Use], range_share: float | None
) -> str | None:
    if (refused := unfit(profile.type, kind)) is not None:
        return refused.detail
    if not _USES[kind] & set(uses):
        return "the column is not asked for in the ways that it answers"
    if kind in _LIMITS:
        return _LIMITS[kind](profile, uses, range_share)
    return None


_USES: Mapping[Kind, frozenset[Use]] = {
    Kind.BLOOM: frozenset({Use.POINT}),
    Kind.BITMAP: frozenset({Use.POINT, Use.RANGE}),
    Kind.BLOOMRF: frozenset({Use.RANGE}),
    Kind.WORD_BLOOM: frozenset({Use.WORD}),
    Kind.WORD_BITMAP: frozenset({Use.WORD}),
    Kind.NGRAM_BLOOM: frozenset({Use.PART}),
    Kind.NGRAM_BITMAP: frozenset({Use.PART}),
}


def _sorted(profile: ColumnProfile) -> bool:
    return profile.opened_without <= SORTED * profile.holders


_SAID_BY_BOUNDS = "the files are sorted by it: least and greatest leave out as much"


def _no_bitmap(
    profile: ColumnProfile, uses: Collection[Use], range_share: float | None
) -> str | None:
    del uses, range_share
    few = profile.distinct_a_file <= MOST_BY_EQUALITY
    if not few and profile.distinct_a_file > UNIQUE * profile.rows_a_file:
        return "nearly every row has its own value: a filter is smaller"
    if profile.distinct_a_file > MOST_VALUES:
        return f"{profile.distinct_a_file:,.0f} distinct values a file, at most {MOST_VALUES:,}"
    return None


def _no_range_filter(
    profile: ColumnProfile, uses: Collection[Use], range_share: float | None
) -> str | None:
    del uses
    if profile.distinct_a_file > MOST_KEYS:
        return f"{profile.distinct_a_file:,.0f} distinct values a file, at most {MOST_KEYS:,}"
    if range_share is not None and range_share * profile.distinct_a_file > NARROW:
        met = range_share * profile.distinct_a_file
        return f"a usual range meets {met:,.0f} values of each file, so it is never empty there"
    return _SAID_BY_BOUNDS if _sorted(profile) else None


def _no_filter(
    profile: ColumnProfile, uses: Collection[Use], range_share: float | None
) -> str | None:
    del uses, range_share
    if profile.distinct_a_file > MOST_KEYS:
        return f"{profile.distinct_a_file:,.0f} distinct values a file, at most {MOST_KEYS:,}"
    if profile.holders > 0.9 * profile.files and profile.files > 1:
        return "nearly every file holds every value: no file could be left out"
    return _SAID_BY_BOUNDS if _sorted(profile) else None


def _no_pieces_rows(
    profile: ColumnProfile, uses: Collection[Use], range_share: float | None
) -> str | None:
    del uses, range_share
    letters = profile.rows_a_file * profile.value_bytes
    if letters > _MOST_LETTERS:
        return f"{letters / 1e6:,.0f} MB of text a file: its bitmap would be as large as the text"
    return None


_MOST_LETTERS = 16_000_000
"""A bitmap of all n-grams is about as large as the text, and readers refuse larger blobs."""
_LIMITS: Mapping[Kind, Callable[[ColumnProfile, Collection[Use], float | None], str | None]] = {
    Kind.BITMAP: _no_bitmap,
    Kind.BLOOMRF: _no_range_filter,
    Kind.BLOOM: _no_filter,
    Kind.WORD_BITMAP: _no_pieces_rows,
    Kind.NGRAM_BITMAP: _no_pieces_rows,
}


def _reason(kind: Kind, profile: ColumnProfile) -> str:
    values = (
        f"{count_words(round(profile.distinct_a_file), 'distinct value')} in "
        f"{count_words(round(profile.rows_a_file), 'row')}"
    )
    if kind == Kind.BITMAP:
        form = "by value" if profile.distinct_a_file <= MOST_BY_EQUALITY else "by bits of the rank"
        return f"{values} a file: a bitmap {form} answers points, ranges and NOT with row numbers"
    if kind == Kind.BLOOMRF:
        return f"{values} a file: a filter answers narrow ranges and points"
    if kind == Kind.BLOOM:
        return f"{values} a file: a filter answers points"
    rows = " with row numbers" if kind in {Kind.WORD_BITMAP, Kind.NGRAM_BITMAP} else ""
    return f"its text is searched: {kind.value} answers{rows}"
