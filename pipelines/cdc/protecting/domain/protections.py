"""The catalogue of protections: what the lake gets instead of a column's plain values.

Written as `method`, or `method:KEY` where a key is needed; the key is named as in the environment
variable LAKEWARDEN_CDC_KEY_<KEY>. The names of masks are those of Apache Ranger.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from portal.lake.errors import RuleViolation

KEY_PREFIX = "LAKEWARDEN_CDC_KEY_"
_KEY_NAME = re.compile(r"[A-Z][A-Z0-9_]{0,47}\Z")
_MOMENT = re.compile(r"([0-9]{4})-[0-9]{2}-[0-9]{2}( [0-9:.]+)?\Z")
_HIDDEN = "xxxx"
_SHOWN, _LONG_ENOUGH = 4, 8


class Method(StrEnum):
    """How values are protected."""

    PLAIN = "plain"
    ENCRYPTED = "encrypted"
    """AES-GCM: equal values of two rows look different."""
    DETERMINISTIC = "deterministic"
    """AES-SIV: equal values look equal, so that columns can be joined."""
    HASH = "hash"
    """HMAC-SHA256: equal values look equal; nobody gets them back."""
    REDACT = "redact"
    SHOW_FIRST_4 = "show_first_4"
    SHOW_LAST_4 = "show_last_4"
    YEAR = "year"
    """The first day of the year of a date or a timestamp."""
    NULLIFY = "nullify"

    @property
    def is_keyed(self) -> bool:
        """Whether a key of the environment is used."""
        return self in _KEYED


_KEYED = frozenset({Method.ENCRYPTED, Method.DETERMINISTIC, Method.HASH})
_PINNED = frozenset({Method.DETERMINISTIC, Method.HASH})
_KEEPS_TYPE = frozenset({Method.PLAIN, Method.YEAR, Method.NULLIFY})
_ADDRESSING = frozenset({Method.PLAIN, Method.DETERMINISTIC})


@dataclass(frozen=True, slots=True)
class Protection:
    """What is done to the values of one column."""

    method: Method = Method.PLAIN
    key: str = ""

    def __post_init__(self) -> None:
        if not self.method.is_keyed and self.key:
            raise _refused(f"{self.method.value} has no key.")
        if self.method.is_keyed and not _KEY_NAME.match(self.key):
            raise _refused(
                f"{self.method.value} needs the name of a key in A-Z, 0-9 and _: "
                f"{self.method.value}:PII for the variable {KEY_PREFIX}PII."
            )

    def __str__(self) -> str:
        return f"{self.method.value}:{self.key}" if self.key else self.method.value

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read what `str` writes.

        Raises:
            RuleViolation: `cdc.protection`.
        """
        method, _, key = text.partition(":")
        if method not in {one.value for one in Method}:
            known = ", ".join(one.value for one in Method)
            raise _refused(f"{text[:80]!r} is none of {known}.")
        return cls(Method(method), key)

    @property
    def variable(self) -> str:
        """The environment variable with the key; empty where none is needed."""
        return f"{KEY_PREFIX}{self.key}" if self.key else ""

    @property
    def is_deterministic(self) -> bool:
        """Whether what is stored depends on the value alone, and not on its row."""
        return self.method is not Method.ENCRYPTED

    @property
    def is_pinned(self) -> bool:
        """Whether another key would make equal values unequal: such a key cannot be rotated."""
        return self.method in _PINNED

    @property
    def may_address(self) -> bool:
        """Whether columns of the key and of the partitioning may have it."""
        return self.method in _ADDRESSING

    def lake_type(self, plain: str) -> str:
        """Return the type of the lake's column, whose values would have type `plain`."""
        return plain if self.method in _KEEPS_TYPE else "string"


PLAIN = Protection()


def masked(text: str, method: Method) -> str | None:
    """Return a value masked by a method without a key; what is too short is hidden whole."""
    match method:
        case Method.NULLIFY:
            return None
        case Method.REDACT:
            return _HIDDEN
        case Method.SHOW_FIRST_4:
            return f"{text[:_SHOWN]}{_HIDDEN}" if len(text) >= _LONG_ENOUGH else _HIDDEN
        case Method.SHOW_LAST_4:
            return f"{_HIDDEN}{text[-_SHOWN:]}" if len(text) >= _LONG_ENOUGH else _HIDDEN
        case Method.YEAR:
            found = _MOMENT.match(text)
            # What is no date does not fit the column, and its quarantine does not show it.
            return f"{found[1]}-01-01{' 00:00:00' if found[2] else ''}" if found else ""
        case Method.PLAIN:
            return text
        case _:
            raise _refused(f"{method.value} needs a key.")


def _refused(message: str) -> RuleViolation:
    return RuleViolation("cdc.protection", f"This is no protection of a column: {message}")
