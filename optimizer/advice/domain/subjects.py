"""What an advice changes, a field of the table's policy or its cubes, as one line of text."""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Subject(StrEnum):
    """What is changed; of a table and subject one advice is open at most."""

    LAYOUT = "layout"
    INDEXES = "index_columns"
    CUBE = "cube"

    @property
    def word(self) -> str:
        """Its name in a sentence."""
        return _WORDS[self]

    @property
    def is_of_policy(self) -> bool:
        """Whether it is a field of the table's policy."""
        return self is not Subject.CUBE


_WORDS: Mapping[Subject, str] = {
    Subject.LAYOUT: "layout",
    Subject.INDEXES: "index columns",
    Subject.CUBE: "cube",
}
_COMMA = ", "


def text_of(value: object) -> str:
    """Return a policy's value as one line; a value that is not there is empty."""
    if isinstance(value, (list, tuple)):
        return _COMMA.join(map(str, value))
    return str(value or "")


def value_of(subject: Subject, text: str) -> str | Sequence[str]:
    """Return what the policy's field takes; the inverse of `text_of` but for names with a comma."""
    if subject is Subject.LAYOUT:
        return text
    return text.split(_COMMA) if text else ()
