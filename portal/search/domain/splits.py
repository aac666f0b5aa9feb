"""Splits a word that was typed without its separators, such as `clickslive`."""

from collections.abc import Callable, Collection

LONGEST = 40


def parts_of(word: str) -> frozenset[str]:
    """Return every part of a word, of two characters or more, that a stored word could be."""
    length = min(len(word), LONGEST)
    return frozenset(
        word[first:last] for first in range(length) for last in range(first + 2, length + 1)
    )


def split_word(
    word: str, whole: Collection[str], *, begins: Callable[[str], bool]
) -> tuple[str, ...] | None:
    """Return the fewest parts that make a word, or None.

    All are in `whole`, but the last need only begin a stored word, which `begins` says.
    """
    length = min(len(word), LONGEST)
    made: dict[int, tuple[str, ...]] = {0: ()}
    for last in range(2, length):
        before = [
            (*made[first], word[first:last])
            for first in made
            if first <= last - 2 and word[first:last] in whole
        ]
        if before:
            made[last] = min(before, key=len)
    for at in sorted(made, key=lambda at: (len(made[at]), at)):
        if at and len(word) - at >= 2 and begins(word[at:]):
            return (*made[at], word[at:])
    return None
