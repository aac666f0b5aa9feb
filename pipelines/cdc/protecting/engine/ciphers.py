"""Says what the lake stores for a value, and gives the value back to who has the key.

    lw1:<key id>:<nonce and ciphertext>    AES-256-GCM, bound to the lake's table and column
    lw2:<key id>:<ciphertext>              AES-256-SIV, bound to the key's name alone

The nonce of AES-GCM comes of a keyed digest of value, row and version: a change that is applied
again has the same text, and no two others have the same nonce. AES-SIV knows neither table nor
column, because values of two tables with one key are to be joined.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESSIV

from pipelines.cdc.protecting.domain.protections import KEY_PREFIX, Method, Protection, masked
from pipelines.cdc.protecting.engine.keys import Key, KeyRing
from portal.lake.errors import RuleViolation

_GCM, _SIV = "lw1", "lw2"
_NONCE = 12
_MOST_CACHED = 64


@dataclass(frozen=True, slots=True)
class Protector:
    """Protects the values of one column of the lake; it travels to Spark's executors."""

    protection: Protection
    table: str
    """The lake's, with its database."""
    column: str
    """The lake's."""
    key: Key | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, protection: Protection, table: str, column: str, environment: Mapping[str, str]
    ) -> "Protector":
        """Take the key of new values from the environment.

        Raises:
            RuleViolation: `cdc.key_missing`, `cdc.key`.
        """
        if not protection.method.is_keyed:
            return cls(protection, table, column)
        ring = KeyRing.read(protection.key, environment)
        key = ring.only if protection.is_pinned else ring.newest
        return cls(protection, table, column, key)

    @property
    def pinned_id(self) -> str:
        """The id of the key that must stay the same; empty where it may change."""
        return self.key.id if self.key is not None and self.protection.is_pinned else ""

    def stored(self, text: str | None, row: str = "", version: int = 0) -> str | None:
        """Return what the lake stores for a value of a row; NULL stays NULL.

        Row and version make no difference to what is deterministic.
        """
        if text is None:
            return None
        if self.key is None:
            return masked(text, self.protection.method)
        ready, data = _ready(self.key), text.encode()
        match self.protection.method:
            case Method.HASH:
                return hmac.digest(ready.hash, data, hashlib.sha256).hex()
            case Method.DETERMINISTIC:
                sealed = ready.siv.encrypt(data, [self.key.name.encode()])
                return _written(_SIV, ready.id, sealed)
            case _:
                place = _place(self.table, self.column)
                nonce = _nonce(ready, place, row.encode(), str(version).encode(), data)
                return _written(_GCM, ready.id, nonce + ready.gcm.encrypt(nonce, data, place))


def deterministic_text(
    protection: Protection, text: str | None, environment: Mapping[str, str]
) -> str | None:
    """Return what any row of the lake stores for a value.

    Raises:
        RuleViolation: `cdc.protection`, it differs by row; `cdc.key_missing`, `cdc.key`.
    """
    if not protection.is_deterministic:
        raise RuleViolation(
            "cdc.protection", f"Values that are {protection.method.value} differ with each row."
        )
    return Protector.of(protection, "", "", environment).stored(text)


def opened(
    stored: str | None, table: str, column: str, environment: Mapping[str, str]
) -> str | None:
    """Return the value of an encrypted text of a column, as the changelog writes it.

    Raises:
        RuleViolation: `cdc.key_missing`; `cdc.sealed`, the text is none, was changed, or is of
            another column.
    """
    if stored is None:
        return None
    kind, _, rest = stored.partition(":")
    key_id, _, encoded = rest.partition(":")
    if kind not in {_GCM, _SIV} or not encoded:
        raise _unreadable(table, column)
    key = KeyRing.read(key_id.partition(".")[0], environment).by_id(key_id)
    try:
        sealed = base64.b64decode(encoded, altchars=b"-_", validate=True)
        if kind == _SIV:
            return _ready(key).siv.decrypt(sealed, [key.name.encode()]).decode()
        nonce, data = sealed[:_NONCE], sealed[_NONCE:]
        return _ready(key).gcm.decrypt(nonce, data, _place(table, column)).decode()
    except (InvalidTag, binascii.Error, ValueError) as error:
        raise _unreadable(table, column) from error


def key_variables(protections: Mapping[str, str]) -> set[str]:
    """Return the environment variables that the protections of some columns need."""
    found = (Protection.parse(text).key for text in protections.values())
    return {f"{KEY_PREFIX}{name}" for name in found if name}


@dataclass(frozen=True, slots=True)
class _Ready:
    """A key made ready for each of its purposes."""

    id: str
    gcm: AESGCM
    siv: AESSIV
    nonce: bytes
    hash: bytes


@lru_cache(_MOST_CACHED)
def _ready(key: Key) -> _Ready:
    return _Ready(
        id=key.id,
        gcm=AESGCM(key.derived(b"gcm", 32)),
        siv=AESSIV(key.derived(b"siv", 64)),
        nonce=key.derived(b"nonce", 32),
        hash=key.derived(b"hash", 32),
    )


def _nonce(ready: _Ready, *parts: bytes) -> bytes:
    """Each part has its length before it, so that no two lists of parts are one text."""
    data = b"".join(len(one).to_bytes(8, "big") + one for one in parts)
    return hmac.digest(ready.nonce, data, hashlib.sha256)[:_NONCE]


def _place(table: str, column: str) -> bytes:
    return f"{table}\x00{column}".encode()


def _written(kind: str, key_id: str, sealed: bytes) -> str:
    return f"{kind}:{key_id}:{base64.urlsafe_b64encode(sealed).decode()}"


def _unreadable(table: str, column: str) -> RuleViolation:
    return RuleViolation(
        "cdc.sealed",
        f"A value of {table}.{column} is no encrypted text of this column, or was changed.",
    )
