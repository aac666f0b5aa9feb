"""Classes of a change of a column's type: which lose nothing, which a person decides, which none.

A change loses nothing where each value keeps its text (`texts`) and the lake's column can be
widened without a copy. Rows that the source converts by itself are not in its log, so a change that
may convert one waits for a person, who can have the table read again.
"""

from enum import StrEnum
from typing import NamedTuple

from pipelines.cdc.schema.domain.types import MOST_DIGITS, ColumnType, Kind, lake_type


class Class(StrEnum):
    """Who decides on a change; a whole change has the worst class of its parts."""

    AUTO = "auto"
    """It is applied at once."""
    PERSON = "person"
    """It waits until a person has approved it."""
    REFUSED = "refused"
    """It cannot be applied to the lake's table as it is; the table is paused."""

    @property
    def rank(self) -> int:
        """0 for the class that needs nobody; the worst has the greatest."""
        return list(Class).index(self)


class Judged(NamedTuple):
    """A class with its reason, as a plain sentence."""

    cls: Class
    reason: str


_NUMBERS = {Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DOUBLE, Kind.BIT, Kind.YEAR}
_MOMENTS = {Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP, Kind.TIME}
_BINARIES = {Kind.BINARY, Kind.GEOMETRY}
_STRINGS = {Kind.TEXT, Kind.ENUM, Kind.SET, Kind.JSON, Kind.UUID, Kind.INET4, Kind.INET6}
_EXACT_IN = {Kind.FLOAT: 1 << 24, Kind.DOUBLE: 1 << 53}
_SAME = Judged(Class.AUTO, "The type holds the same values.")


def judge_type(old: ColumnType, new: ColumnType) -> Judged:
    """Return the class of a change from one type to another, with the reason."""
    judged = _judged(old, new)
    before, after = lake_type(old), lake_type(new)
    if judged.cls is Class.AUTO and not widens_in_place(before, after):
        return Judged(
            Class.PERSON, f"{judged.reason} The lake cannot widen {before} to {after} in place."
        )
    return judged


def widens_in_place(old: str, new: str) -> bool:
    """Tell whether Hudi's schema on read widens one type of the lake to another without a copy.

    A number never becomes a string in place: files that stay would show another text of it.
    """
    if old == new:
        return True
    if old in {"int", "bigint"} and new.startswith("decimal"):
        precision, scale = decimal_of(new)
        return precision - scale >= (10 if old == "int" else 19)
    if old.startswith("decimal") and new.startswith("decimal"):
        (p, s), (p2, s2) = decimal_of(old), decimal_of(new)
        return s2 == s and p2 >= p
    return (old, new) in {("int", "bigint"), ("int", "double"), ("float", "double")}


def decimal_of(lake: str) -> tuple[int, int]:
    """Return precision and scale of a decimal type of the lake."""
    precision, _, scale = lake.removeprefix("decimal(").removesuffix(")").partition(",")
    return int(precision), int(scale)


def _judged(old: ColumnType, new: ColumnType) -> Judged:
    if old == new:
        return _SAME
    if new.kind in _STRINGS and old.kind in _STRINGS:
        return _strings(old, new)
    if old.kind in _NUMBERS and new.kind in _NUMBERS:
        return _numbers(old, new)
    if old.kind in _MOMENTS and new.kind in _MOMENTS:
        return _moments(old, new)
    if old.kind in _BINARIES and new.kind in _BINARIES:
        return _binaries(old, new)
    if new.kind is Kind.TEXT and old.kind not in _BINARIES:
        return Judged(Class.PERSON, f"Type {old.name} becomes text: readers that compute stop.")
    return Judged(Class.REFUSED, f"Values of {old.name} are not, as a rule, values of {new.name}.")


def _strings(old: ColumnType, new: ColumnType) -> Judged:
    if old.kind is not new.kind:
        return Judged(
            Class.PERSON, f"{old.name} and {new.name} are both text, with other rules of values."
        )
    if old.kind in {Kind.ENUM, Kind.SET}:
        if new.members[: len(old.members)] == old.members:
            return Judged(Class.AUTO, "Members were appended.")
        return Judged(Class.PERSON, "Members went, changed or moved: rows may have other values.")
    if new.size < old.size:
        return Judged(Class.PERSON, "Texts are shorter: the source may have cut rows.")
    return Judged(Class.AUTO, "Texts may be longer.")


def _numbers(old: ColumnType, new: ColumnType) -> Judged:
    if old.kind is Kind.DECIMAL and new.kind is Kind.DECIMAL:
        return _decimals(old, new)
    if old.kind in {Kind.FLOAT, Kind.DOUBLE}:
        if new.kind not in {Kind.FLOAT, Kind.DOUBLE} or new.size < old.size:
            return Judged(Class.REFUSED, f"A {new.name} does not hold every {old.name}.")
        return _signs(old, new, "A double holds every float.")
    if new.kind in {Kind.FLOAT, Kind.DOUBLE}:
        return _to_float(old, new)
    if old.kind is Kind.DECIMAL:
        return Judged(Class.REFUSED, f"A {new.name} does not hold the digits of a decimal.")
    return _integers(old, new)


def _decimals(old: ColumnType, new: ColumnType) -> Judged:
    if new.size - new.scale < old.size - old.scale:
        return Judged(Class.REFUSED, "The decimal has fewer digits before its point.")
    if new.scale != old.scale:
        return Judged(Class.PERSON, "The decimal has another scale: rows are rounded or padded.")
    if new.size > MOST_DIGITS >= old.size:
        return Judged(
            Class.PERSON, f"The decimal has more than {MOST_DIGITS} digits: it becomes string."
        )
    return _signs(old, new, "The decimal has more digits before its point.")


def _to_float(old: ColumnType, new: ColumnType) -> Judged:
    exact = _EXACT_IN[new.kind]
    greatest = _greatest(old)
    if old.kind is Kind.DECIMAL:
        return Judged(Class.REFUSED, f"A {new.name} rounds the digits of a decimal.")
    if greatest <= exact:
        return Judged(Class.PERSON, f"Whole numbers become {new.name}: readers may group by them.")
    if new.kind is Kind.DOUBLE:
        return Judged(Class.PERSON, "A double loses digits of whole numbers above 2^53.")
    return Judged(Class.REFUSED, "A float loses digits of whole numbers above 2^24.")


def _integers(old: ColumnType, new: ColumnType) -> Judged:
    """Both are whole numbers of some kind, or the new one is a decimal."""
    if new.kind is Kind.DECIMAL:
        if 10 ** (new.size - new.scale) <= _greatest(old):
            return Judged(Class.REFUSED, "The decimal has too few digits before its point.")
        return Judged(Class.PERSON, "Whole numbers become decimals.")
    if new.kind is Kind.YEAR:
        return Judged(Class.REFUSED, "A year holds few of the whole numbers.")
    if new.size < old.size and old.kind is not Kind.YEAR:
        return Judged(Class.REFUSED, f"A {new.name} has fewer bits than a {old.name}.")
    if old.kind is not new.kind:
        return Judged(Class.PERSON, f"Type {old.name} becomes {new.name}.")
    return _signs(old, new, f"Every {old.name} is a {new.name}.")


def _signs(old: ColumnType, new: ColumnType, reason: str) -> Judged:
    if old.is_unsigned != new.is_unsigned:
        return Judged(Class.PERSON, "The sign changes: half of the range moves.")
    return Judged(Class.AUTO, reason)


def _moments(old: ColumnType, new: ColumnType) -> Judged:
    if old.kind is new.kind:
        if new.scale >= old.scale:
            return Judged(Class.AUTO, "Seconds have more digits of a fraction.")
        return Judged(Class.PERSON, "Seconds have fewer digits: the source rounds rows.")
    if old.kind is Kind.DATE and new.kind is not Kind.TIME:
        return Judged(Class.PERSON, "A date becomes its midnight.")
    if {old.kind, new.kind} == {Kind.DATETIME, Kind.TIMESTAMP}:
        if new.scale < old.scale:
            return Judged(Class.PERSON, "The zone changes, and seconds are rounded.")
        return Judged(Class.PERSON, "A datetime has no zone, a timestamp has: values may move.")
    return Judged(Class.REFUSED, f"A {new.name} does not hold a {old.name}.")


def _binaries(old: ColumnType, new: ColumnType) -> Judged:
    if old.kind is new.kind is Kind.GEOMETRY:
        if new.name == "geometry":
            return Judged(Class.AUTO, f"Every {old.name} is a geometry.")
        return Judged(Class.PERSON, f"Not every {old.name} is a {new.name}.")
    if old.kind is not new.kind:
        return Judged(Class.PERSON, f"Type {old.name} becomes {new.name}.")
    if new.size < old.size:
        return Judged(Class.PERSON, "Values are shorter: the source may have cut rows.")
    if new.is_fixed:
        return Judged(Class.PERSON, "The source pads every row with zero bytes.")
    return Judged(Class.AUTO, "Values may be longer.")


def _greatest(column: ColumnType) -> int:
    if column.kind is Kind.YEAR:
        return 2155
    return max(abs(one) for one in column.bounds) if column.kind is not Kind.DECIMAL else 0
