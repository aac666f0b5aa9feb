"""What a text must hold to match: the literal runs of LIKE, contains, begins with and ends with.

A run is broken by a wildcard. A word at the edge of a run may be half a word, unless the edge is
the text's own beginning or end.
"""

import re
from dataclasses import dataclass

from optimizer.indexes.domain.pieces import ngrams_of, tokens_of


@dataclass(frozen=True)
class Run:
    """Letters that stand one behind another in every text that matches."""

    text: str
    bounded_left: bool
    """The text begins with it, or a separator stands before it."""
    bounded_right: bool
    """The text ends with it, or a separator stands behind it."""


@dataclass(frozen=True)
class TextMatch:
    """A condition on a text, as the runs that it must hold."""

    runs: tuple[Run, ...]
    lowered: bool = False
    """The condition is on `lower(column)`: only what is ASCII can be looked for."""

    def tokens(self) -> list[bytes]:
        """Return the whole words that every matching text has, folded."""
        return list(dict.fromkeys(token for run in self.runs for token in _bounded(run)))

    def ngrams(self, n: int) -> list[int]:
        """Return the n-grams that every matching text has, folded."""
        found = (
            number
            for run in self.runs
            for part in _ascii_parts(run.text, lowered=self.lowered)
            for number in ngrams_of(part, n)
        )
        return list(dict.fromkeys(found))


def _bounded(run: Run) -> list[bytes]:
    found = tokens_of(run.text)
    if found and not run.bounded_left and _is_letter(run.text[0]):
        found = found[1:]
    if found and not run.bounded_right and _is_letter(run.text[-1]):
        # The only word of a run that touches both edges went with the first.
        found = found[:-1]
    return found


def _is_letter(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _ascii_parts(text: str, *, lowered: bool) -> list[str]:
    if not lowered:
        return [text]
    return re.findall(r"[\x00-\x7f]+", text)


def equal_to(text: str, *, lowered: bool = False) -> TextMatch:
    """Return the condition that the text is this one."""
    return TextMatch((Run(text, bounded_left=True, bounded_right=True),), lowered)


def starts_with(text: str, *, lowered: bool = False) -> TextMatch:
    """Return the condition that the text begins so."""
    return TextMatch((Run(text, bounded_left=True, bounded_right=False),), lowered)


def ends_with(text: str, *, lowered: bool = False) -> TextMatch:
    """Return the condition that the text ends so."""
    return TextMatch((Run(text, bounded_left=False, bounded_right=True),), lowered)


def contains(text: str, *, lowered: bool = False) -> TextMatch:
    """Return the condition that the text holds this one."""
    return TextMatch((Run(text, bounded_left=False, bounded_right=False),), lowered)


def has_token(word: str) -> TextMatch:
    """Return the condition that these words stand in the text, each between separators."""
    runs = (token.decode() for token in tokens_of(word))
    return TextMatch(tuple(Run(one, bounded_left=True, bounded_right=True) for one in runs))


def like(pattern: str, escape: str | None = "\\", *, lowered: bool = False) -> TextMatch | None:
    """Return the condition of a LIKE pattern; None where its escapes are not well formed."""
    runs: list[Run] = []
    letters: list[str] = []
    from_start = True
    characters = iter(pattern)
    for character in characters:
        if escape and character == escape:
            follower = next(characters, None)
            if follower is None or follower not in {"%", "_", escape}:
                return None
            letters.append(follower)
        elif character in {"%", "_"}:
            runs.append(Run("".join(letters), from_start, bounded_right=False))
            letters, from_start = [], False
        else:
            letters.append(character)
    runs.append(Run("".join(letters), from_start, bounded_right=True))
    return TextMatch(tuple(run for run in runs if run.text), lowered)
