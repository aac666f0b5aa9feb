"""Keys of the environment: LAKEWARDEN_CDC_KEY_<NAME> has one or more, the newest first.

Each is 32 bytes in base64, and more are separated by commas. The first protects new values; the
others read older ones. Which key a value was encrypted with stands in the value, as the key's id.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self

from pipelines.cdc.protecting.domain.protections import KEY_PREFIX
from portal.lake.errors import RuleViolation

_SIZE = 32


@dataclass(frozen=True, slots=True)
class Key:
    """One key; its id does not tell it."""

    name: str
    material: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """The name of the key and a print of it."""
        return f"{self.name}.{self.derived(b'id', 4).hex()}"

    def derived(self, purpose: bytes, size: int) -> bytes:
        """Return a key for one purpose, of at most 64 bytes; none tells another."""
        return hmac.digest(self.material, b"lakewarden cdc " + purpose, hashlib.sha512)[:size]


@dataclass(frozen=True, slots=True)
class KeyRing:
    """The keys of one name, the newest first."""

    name: str
    keys: tuple[Key, ...]

    @classmethod
    def read(cls, name: str, environment: Mapping[str, str]) -> Self:
        """Read the keys of a name.

        Raises:
            RuleViolation: `cdc.key_missing`; `cdc.key`, the variable has no keys.
        """
        variable = f"{KEY_PREFIX}{name}"
        texts = [one for part in environment.get(variable, "").split(",") if (one := part.strip())]
        if not texts:
            raise RuleViolation(
                "cdc.key_missing",
                f"The environment variable {variable} is not set, which columns are protected "
                "with. Set it where the portal and its workers run, and name it in protection_keys "
                "of the lake where there are several; it is tried again by itself.",
            )
        return cls(name, tuple(Key(name, _decoded(one, variable)) for one in texts))

    @property
    def newest(self) -> Key:
        """The key of new values."""
        return self.keys[0]

    @property
    def only(self) -> Key:
        """The key of values that have to look equal.

        Raises:
            RuleViolation: `cdc.key`, there is more than one.
        """
        if len(self.keys) > 1:
            raise RuleViolation(
                "cdc.key",
                f"{KEY_PREFIX}{self.name} has {len(self.keys)} keys, and columns with equal values "
                "that look equal need one: name another variable, and load their tables again.",
            )
        return self.newest

    def by_id(self, key_id: str) -> Key:
        """Return the key of an id.

        Raises:
            RuleViolation: `cdc.key_missing`.
        """
        for key in self.keys:
            if key.id == key_id:
                return key
        raise RuleViolation(
            "cdc.key_missing",
            f"{KEY_PREFIX}{self.name} does not have the key {key_id} any more. Add it behind the "
            "first one.",
        )


def _decoded(text: str, variable: str) -> bytes:
    try:
        found = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        found = b""
    if len(found) != _SIZE:
        # Nothing of the text is shown: it may be nearly the key.
        raise RuleViolation(
            "cdc.key",
            f"{variable} is no key: give {_SIZE} random bytes in base64, as `openssl rand -base64 "
            f"{_SIZE}` prints them; more keys behind commas.",
        )
    return found
