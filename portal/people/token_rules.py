"""Rules of API tokens: secret, name, scopes, days and state. Pure."""

import hashlib
import secrets
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from portal.lake.errors import RuleViolation

PREFIX = "lw_"
MOST_DAYS = 366
MOST_CHARS = 80
MOST_LIVE = 20
SOON = timedelta(days=14)
NOTE_USE_EVERY = timedelta(minutes=1)
_RANDOM_BYTES = 32


class TokenState(StrEnum):
    """Whether a token opens anything now, and if not, why."""

    LIVE = "LIVE"
    EXPIRED = "EXPIRED"
    ENDED = "ENDED"
    LEFT = "LEFT"
    """Its owner's account is closed."""


@dataclass(frozen=True, slots=True)
class TokenParams:
    """What somebody asks for."""

    name: str
    scopes: tuple[str, ...]
    n_days: int

    def checked(self, known: Collection[str]) -> "TokenParams":
        """Return the request in one form: name without spaces around it, scopes sorted and once.

        Raises:
            RuleViolation: no name, no or an unknown scope, fewer than 1 or too many days.
        """
        name = self.name.strip()
        if not name or len(name) > MOST_CHARS or not name.isprintable():
            raise RuleViolation(
                "token.name",
                f"{self.name[:100]!a} cannot name a token. Say in one line of 1 to {MOST_CHARS} "
                "signs which program it is for.",
            )
        if not 1 <= self.n_days <= MOST_DAYS:
            raise RuleViolation(
                "token.days", f"A token lives 1 to {MOST_DAYS} days, not {self.n_days}."
            )
        return TokenParams(name, _scopes(self.scopes, known), self.n_days)


def _scopes(said: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    scopes = tuple(sorted(set(said)))
    offered = ", ".join(sorted(known)) or "none yet: no room of this portal takes tokens"
    if not scopes:
        raise RuleViolation("token.scope_none", f"Say what the token is for. There is: {offered}.")
    for scope in scopes:
        if scope not in known:
            raise RuleViolation(
                "token.scope_unknown", f"There is no scope {scope[:50]!a}. There is: {offered}."
            )
    return scopes


def new_secret() -> str:
    """Return a secret that cannot be guessed: 256 random bits."""
    return PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def digest_of(secret: str) -> str:
    """Return what is kept of a secret: as it is random, a plain hash cannot be turned round."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()


def is_use_noted(last_used_at: datetime | None, now: datetime) -> bool:
    """Say whether a use needs no writing down, because one of the last minute is."""
    return last_used_at is not None and now - last_used_at < NOTE_USE_EVERY
