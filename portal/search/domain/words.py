"""Splits names and typed text into words.

A word is a run of letters or of digits: `clicks_liveV2` has `clicks`, `live`, `v` and `2`. Scripts
that are written without spaces give pairs of neighbouring characters. Words are compared in the
form NFKC with case folded, so that a name is found however it was typed.
"""

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

WORD_CHARS = 64
"""How much of a word is stored and compared."""
QUERY_CHARS = 400
"""How long a typed text may be: a database and a table with the longest names, and a dot."""
QUERY_WORDS = 8
"""How many words of a typed text are compared; what follows them is not."""

_UNSPACED = (
    *((0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1780, 0x17FF)),  # Thai, Lao, Burmese, Khmer
    *((0x3040, 0x30FF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),  # Kana, Han
    *((0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF)),
)


@dataclass(frozen=True, slots=True)
class Typed:
    """What a person typed, in words."""

    text: str
    """All of it in the form in which names are compared."""
    words: tuple[str, ...]
    """Each begins a word of what is looked for."""
    db_words: tuple[str, ...] = ()
    """The words before the dot of `database.table`."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was typed that a name could have."""
        return not self.words and not self.db_words


def folded(text: str) -> str:
    """Return a text in the form in which names are compared."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def name_words(name: str) -> tuple[str, ...]:
    """Return the distinct words of a name, in order."""
    found = [word for kind, run in _runs(name) for word in _indexed(kind, run)]
    return tuple(dict.fromkeys(word[:WORD_CHARS] for word in found))


def typed_words(text: str) -> tuple[str, ...]:
    """Return the distinct words of a typed text, no more than are compared."""
    found = [word for kind, run in _runs(text) for word in _asked(kind, run)]
    return tuple(dict.fromkeys(word[:WORD_CHARS] for word in found))[:QUERY_WORDS]


def read_typed(text: str) -> Typed:
    """Read what a person typed: words, or a database and a table with a dot between."""
    text = text.strip().strip("`\"'")
    before, dot, after = text.partition(".")
    if not dot:
        return Typed(folded(text), typed_words(text))
    return Typed(folded(text), typed_words(after), typed_words(before))


def _indexed(kind: str, run: str) -> Iterator[str]:
    if kind != "unspaced":
        yield run
        return
    yield from _pairs(run)
    if len(run) > 1:
        yield run[-1]  # a pair begins with each of the others


def _asked(kind: str, run: str) -> Iterator[str]:
    yield from _pairs(run) if kind == "unspaced" else (run,)


def _pairs(run: str) -> Iterator[str]:
    if len(run) == 1:
        yield run
    for at in range(len(run) - 1):
        yield run[at : at + 2]


def _runs(text: str) -> Iterator[tuple[str, str]]:
    """Yield the runs of characters of one kind, folded; separators are left out."""
    kind, run, was_lower = "", "", False
    for char in unicodedata.normalize("NFKC", text):
        now = _kind(char, kind)
        is_upper = char.isupper()
        if now != kind or now == "sign" or (is_upper and was_lower):
            if kind:
                yield kind, folded(run)
            kind, run = now, ""
        if now:
            run += char
        was_lower = now == "letter" and not is_upper and char.isalpha()
    if kind:
        yield kind, folded(run)


def _kind(char: str, before: str) -> str:
    """Return the kind of a character; marks belong to the letter before them."""
    category = unicodedata.category(char)
    point = ord(char)
    if any(first <= point <= last for first, last in _UNSPACED) and category[0] in "LMN":
        return "unspaced"
    if category[0] == "M":
        return before
    if category[0] == "L":
        return "letter"
    if category[0] == "N":
        return "digit"
    # A symbol may be all of a name; those of ASCII separate.
    return "sign" if category[0] == "S" and point > 127 else ""
