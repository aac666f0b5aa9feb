"""Whether a table takes part in lifecycle: its own LEVEL and TTL parameters, strictly read.

Nothing is inherited here: the guard copies a database's values at CREATE, so a table without its
own LEVEL and TTL is not enrolled. What the two values lead to is decided in `expiry.py`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

LEVEL_KEYS = ("LEVEL", "level")
TTL_KEYS = ("TTL", "ttl")
KEEP_FOREVER_LEVEL = 0
LIFECYCLE_LEVEL = 1
MAX_TTL_DAYS = 36_500

# ASCII digits only, so that Spark's `rlike` and this code read the same values.
LEVEL_PATTERN = r"^[01]$"
TTL_PATTERN = r"^[0-9]{1,5}$"


@dataclass(frozen=True, slots=True)
class Policy:
    """What a table's own parameters say; `problem` is a sentence when they cannot be used."""

    level: int | None
    ttl: int | None
    enrolled: bool
    problem: str = ""

    @property
    def keeps_forever(self) -> bool:
        """LEVEL 0: never judged by age."""
        return not self.problem and self.level == KEEP_FOREVER_LEVEL


def read_policy(parameters: Mapping[str, str]) -> Policy:
    """Read LEVEL and TTL in either spelling; both spellings at once are refused, equal or not."""
    level_text, level_problem = _one_of(parameters, LEVEL_KEYS)
    ttl_text, ttl_problem = _one_of(parameters, TTL_KEYS)
    level, level_problem = _number(level_text, level_problem, pattern=LEVEL_PATTERN, what="LEVEL")
    ttl, ttl_problem = _number(ttl_text, ttl_problem, pattern=TTL_PATTERN, what="TTL")
    if ttl is not None and not 1 <= ttl <= MAX_TTL_DAYS:
        ttl_problem = f"TTL is {ttl}, not a number of days from 1 to {MAX_TTL_DAYS}."
        ttl = None
    problem = " ".join(filter(None, [level_problem, ttl_problem]))
    enrolled = not problem and level is not None and ttl is not None
    return Policy(level, ttl, enrolled, problem)


def _one_of(parameters: Mapping[str, str], keys: tuple[str, str]) -> tuple[str | None, str]:
    present = [key for key in keys if key in parameters]
    if len(present) > 1:
        return None, f"Both {keys[0]} and {keys[1]} are set; remove one."
    return (parameters[present[0]].strip(" ") if present else None), ""


def _number(text: str | None, problem: str, *, pattern: str, what: str) -> tuple[int | None, str]:
    if text is None:
        return None, problem
    if not re.fullmatch(pattern, text):
        allowed = "0 or 1" if what == "LEVEL" else f"a number of days from 1 to {MAX_TTL_DAYS}"
        return None, f"{what} is {text[:40]!r}, not {allowed}."
    return int(text), ""
