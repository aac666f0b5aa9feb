"""What of a table's policy an advice changes, and its values as one line of text."""

from collections.abc import Mapping, Sequence
from enum import StrEnum


class Subject(StrEnum):
    """The field of the policy; of a table and subject one advice is new or applied at most."""

    LAYOUT = "layout"
    INDEXES = "index_columns"

    @property
    def word(self) -> str:
        """Its name in a sentence."""
        return _WORDS[self]


_WORDS: Mapping[Subject, str] = {Subject.LAYOUT: "layout", Subject.INDEXES: "index columns"}
_COMMA = ", "


def text_of(value: object) -> str:
    """Return a policy's value as one line; a value that is not there is empty."""
    if isinstance(value, (list, tuple)):
        return _COMMA.join(map(str, value))
    return str(value or "")


def value_of(subject: Subject, text: str) -> str | Sequence[str]:
    """Return what the policy's field takes; the inverse of `text_of` but for names with a comma."""
    return text if subject is Subject.LAYOUT else text.split(_COMMA)
