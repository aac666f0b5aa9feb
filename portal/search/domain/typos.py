"""How far a typed word is from the beginning of a stored one, and the keys that find near ones.

The keys are SymSpell's (Garbe 2012): two words that differ by a letter are equal once a letter is
left out of one or both. A stored word has the keys of its beginning; a typed one is compared by its
own, also only begun. A letter that is missing, too much, wrong or swapped counts as one.
"""

from itertools import combinations

KEYED_CHARS = 7
"""How many characters at the beginning of a typed word choose its candidates."""
SHORTEST, LONG = 4, 8


def typos_allowed(word: str) -> int:
    """Return how many typos a typed word may have: none in a short one or in a number."""
    if len(word) < SHORTEST or not word.isalpha():
        return 0
    return 2 if len(word) >= LONG else 1


def stored_keys(word: str) -> frozenset[str]:
    """Return the keys of a stored word: its beginning without one letter, or without two."""
    if len(word) < SHORTEST or not word.isalpha():
        return frozenset()
    keys = _without(word[: KEYED_CHARS + 1], 1)
    if len(word) >= KEYED_CHARS:
        keys |= _without(word[: KEYED_CHARS + 2], 2)
    return frozenset(key[:KEYED_CHARS] for key in keys)


def typed_keys(word: str) -> frozenset[str]:
    """Return what a typed word is compared by, itself among it."""
    begun = word[:KEYED_CHARS]
    keys = {begun}
    for n_typos in range(1, typos_allowed(word) + 1):
        keys |= _without(begun, n_typos)
    return frozenset(keys)


def distances(typed: str, stored: str) -> tuple[int, int]:
    """Return how many typos lie between a typed word and a stored one.

    The first number is the distance to the nearest beginning of the stored word, the second that to
    the whole.
    """
    before: list[int] = []
    row = list(range(len(stored) + 1))
    for at, char in enumerate(typed, start=1):
        last, row = row, [at]
        for there, other in enumerate(stored, start=1):
            cost = min(last[there] + 1, row[there - 1] + 1, last[there - 1] + (char != other))
            if at > 1 and there > 1 and char == stored[there - 2] and typed[at - 2] == other:
                cost = min(cost, before[there - 2] + 1)
            row.append(cost)
        before = last
    return min(row), row[-1]


def _without(word: str, n_letters: int) -> frozenset[str]:
    kept = combinations(word, len(word) - n_letters)
    return frozenset("".join(chars) for chars in kept)
