"""Roles given by groups, rules of user names, and the length of log-in locks. Pure."""

import re
import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from portal.lake.errors import NotAllowed
from portal.reliability.retry import backoff

OWNER = "owner"
EVERYBODY = "*"
_USERNAME = re.compile(r"[a-z0-9_][a-z0-9_.@+-]{0,149}")

FORGOTTEN_AFTER = timedelta(hours=1)
_FIRST_LOCK, LONGEST_LOCK = timedelta(minutes=1), timedelta(minutes=15)


class Way(StrEnum):
    """By which way a person came in."""

    LOCAL = "local"
    OIDC = "oidc"
    LDAP = "ldap"


def roles_of(
    groups: Collection[str] | None, given_by: Mapping[str, Collection[str]]
) -> frozenset[str] | None:
    """Return the roles that groups give, as `role` or `role@lake`; None: they may not come in.

    `owner` lets a person in without a further role; names are compared without regard to case.
    """
    mine = {group.casefold() for group in groups or ()}
    given = {
        role
        for role, names in given_by.items()
        if EVERYBODY in names or mine & {name.casefold() for name in names}
    }
    return frozenset(given - {OWNER}) if given else None


def username_of(said: str, *, domain: str = "") -> str:
    """Return the portal's user name: in lower case, as directories do not tell cases apart.

    Raises:
        NotAllowed: it is no user name, or of another domain than the one that is let in.
    """
    name = said.strip().lower()
    if domain:
        name, _, behind = name.rpartition("@")
        if behind != domain.lower():
            raise NotAllowed(
                "sign_in.domain", f"Only people of {domain} may come in, and {said!r} is not."
            )
    if not _USERNAME.fullmatch(name):
        raise NotAllowed(
            "sign_in.username",
            f"The log-in server calls you {said[:150]!a}, which cannot be a user name here. Tell "
            "an operator: another claim or attribute must be taken.",
        )
    return name


def counted_name(said: str) -> str:
    """Return the one spelling under which log-ins of a name are counted.

    The log-in form takes compatibility forms (full width, bold) for the plain letters, and
    directories also ignore case, accents, spaces and invisible characters. So all of these share
    one count; a name can only lose free tries by it, never gain some.
    """
    plain = unicodedata.normalize("NFKD", said.casefold()).casefold()
    return "".join(sign for sign in plain if unicodedata.category(sign)[0] not in "CMZ")


class Counted(StrEnum):
    """Whose failed log-ins are counted: of a name, of an address, of a signed-in person."""

    NAME = "NAME"
    ADDRESS = "ADDRESS"
    AGAIN = "AGAIN"


FREE_TRIES: Mapping[Counted, int] = {Counted.NAME: 5, Counted.ADDRESS: 30, Counted.AGAIN: 5}


@dataclass(frozen=True, slots=True)
class LoginTally:
    """How often it failed lately, and until when it may not be tried."""

    n_failed: int = 0
    last_at: datetime | None = None
    locked_until: datetime | None = None

    def after_a_try(self, counted: Counted, now: datetime) -> "LoginTally":
        """Count one more try; each beyond the free ones doubles the wait, up to 15 minutes."""
        is_old = self.last_at is None or now - self.last_at > FORGOTTEN_AFTER
        n_failed = 1 if is_old else self.n_failed + 1
        beyond = n_failed - FREE_TRIES[counted]
        if beyond < 0:
            return LoginTally(n_failed, now, None)
        wait = backoff(beyond + 1, first=_FIRST_LOCK, longest=LONGEST_LOCK)
        return LoginTally(n_failed, now, now + wait)


def too_many_left(n_gone: int, *, of: int) -> bool:
    """Say whether so many are gone at once that the directory must be broken, not the company."""
    return n_gone > 2 and 2 * n_gone >= of
