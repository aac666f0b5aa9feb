"""Log lines to measure indexes of text by: the same for a seed, with words of every rarity."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

FILES, LINES_A_FILE, LINES_A_GROUP = 100, 20_000, 2_000
_LEVELS = ("INFO", "INFO", "INFO", "INFO", "WARN", "DEBUG", "ERROR")
_PARTS = ("gateway", "billing", "search", "stock", "mail", "login", "report", "export")
_VERBS = ("accepted", "rejected", "finished", "started", "retried", "cached", "queued")
_NODES = tuple(f"node-{at:03d}" for at in range(200))
RARE = {
    "quasar": 3,
    "zeppelin": 40,
    "OutOfMemoryError": 400,
    "kilobyte": 4_000,
}
"""Words that stand in so many of the two million lines."""


@dataclass(frozen=True)
class Question:
    """A condition that is asked of the lines: contains this, or has it as a word."""

    name: str
    text: str
    as_word: bool


QUESTIONS = (
    *(Question(f"LIKE '%{word}%'", word, as_word=False) for word in RARE),
    Question("LIKE '%eppeli%'", "eppeli", as_word=False),
    Question("LIKE '% node-17%'", " node-17", as_word=False),
    Question("LIKE '%absent-word%'", "absent-word", as_word=False),
    *(Question(f"has the word {word}", word, as_word=True) for word in RARE),
    Question("has the word absentword", "absentword", as_word=True),
)


def files(n_files: int, seed: int = 1) -> Iterator[list[str]]:
    """Yield the lines of each file."""
    chance = random.Random(seed)
    total = n_files * LINES_A_FILE
    rare: dict[int, str] = {}
    for word, count in RARE.items():
        for at in chance.sample(range(total), max(1, count * n_files // FILES)):
            rare[at] = word
    for file in range(n_files):
        start = file * LINES_A_FILE
        yield [_line(chance, at, rare.get(at)) for at in range(start, start + LINES_A_FILE)]


def _line(chance: random.Random, at: int, rare: str | None) -> str:
    level, part = chance.choice(_LEVELS), chance.choice(_PARTS)
    verb, node = chance.choice(_VERBS), chance.choice(_NODES)
    number = chance.getrandbits(32)
    said = f" cause={rare}" if rare else ""
    return (
        f"2026-11-25T{at // 83_334:02d}:{at // 1389 % 60:02d} {level} {part} {verb} request "
        f"{number:08x} on {node} in {number % 997} ms{said}"
    )
