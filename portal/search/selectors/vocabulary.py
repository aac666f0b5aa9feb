"""Finds the stored words that typed words mean: begun, misspelled, or without their separators."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.db.models.functions import Length

from portal.search.domain.splits import parts_of, split_word
from portal.search.domain.typos import distances, typed_keys, typos_allowed
from portal.search.models import Word, WordKey

LAST = "\U0010ffff"
"""Sorts after every character that a word may have."""
CANDIDATES = 400
NEAR = 40
"""How many misspelled words are meant at most."""


@dataclass(frozen=True, slots=True)
class NearWord:
    """A stored word that a typed one may have meant."""

    key: int
    text: str


def words_begun(lake: str, typed: str) -> QuerySet[Word]:
    """Return the stored words that begin with a typed one, the shortest first.

    A single letter or digit is compared as a whole word: half of all names have one like it.
    """
    of_lake = Word.objects.filter(lake=lake)
    if len(typed) == 1 and typed.isascii():
        return of_lake.filter(text=typed)
    begun = of_lake.filter(text__gte=typed, text__lt=typed + LAST)
    return begun.order_by(Length("text"), "text")


def near_words(lake: str, typed: str) -> list[NearWord]:
    """Return the stored words that a typed one is a misspelled beginning of, the nearest first."""
    n_typos = typos_allowed(typed)
    if not n_typos:
        return []
    wanted = Q(pk__in=())
    for key in sorted(typed_keys(typed)):
        # The lake in each of them: SQLite answers them by one index only so.
        wanted |= Q(lake=lake, text__gte=key, text__lt=key + LAST)
    found = dict(Word.objects.filter(wanted).values_list("pk", "text")[:CANDIDATES])
    misspelled = WordKey.objects.filter(wanted).values_list("word", "word__text")
    found |= dict(misspelled[:CANDIDATES])
    measured = [(distances(typed, text), text, key) for key, text in found.items()]
    near = sorted(one for one in measured if one[0][0] <= n_typos)
    return [NearWord(key, text) for _, text, key in near[:NEAR]]


def split_typed(lake: str, typed: str) -> tuple[str, ...] | None:
    """Return the words that make a typed one together, where the lake has them."""
    parts = Word.objects.filter(lake=lake, text__in=parts_of(typed))
    whole = set(parts.values_list("text", flat=True))
    if not whole:
        return None
    return split_word(typed, whole, begins=lambda rest: words_begun(lake, rest).exists())


def respelled(lake: str, words: Sequence[str]) -> tuple[str, ...]:
    """Return typed words with those split that no stored word begins with."""
    found: list[str] = []
    for word in words:
        parts = None if words_begun(lake, word).exists() else split_typed(lake, word)
        found += parts or [word]
    return tuple(dict.fromkeys(found))
