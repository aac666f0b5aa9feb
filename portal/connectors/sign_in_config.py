"""Reads the sign-in methods from sign_in.json. Settings that it omits keep their defaults.

Secrets are never in it: it names the 0600 files that hold them. A key that is not known is refused,
because a misspelt "roles" would let in nobody, or everybody.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from portal.lake.errors import ExternalFailure
from portal.lake.lines import secret_lines

LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


@dataclass(frozen=True, slots=True)
class OidcConfig:
    """One OpenID Connect provider."""

    issuer: str
    client_id: str
    client_secret_file: str = ""
    title: str = "single sign-on"
    scopes: tuple[str, ...] = ("openid", "profile", "email", "groups")
    username_claim: str = "preferred_username"
    username_domain: str = ""
    """What must stand behind the @ of a user name, and is taken off; empty: names have no @."""
    groups_claim: str = "groups"
    ca_file: str = ""
    timeout_seconds: float = 10

    def __post_init__(self) -> None:
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and parts.hostname not in LOOPBACK:
            raise ValueError("oidc.issuer must begin with https://")
        if "openid" not in self.scopes:
            raise ValueError('oidc.scopes must hold "openid"')


@dataclass(frozen=True, slots=True)
class LdapConfig:
    """One directory server, and how a person and their groups are found in it."""

    url: str
    user_base: str = ""
    user_filter: str = "(uid={username})"
    user_dn: str = ""
    """Where every user's name stands in one place: bound to at once, without a search."""
    group_base: str = ""
    group_filter: str = "(member={dn})"
    group_attribute: str = "cn"
    id_attribute: str = "entryUUID"
    name_attribute: str = "cn"
    mail_attribute: str = "mail"
    bind_dn: str = ""
    bind_password_file: str = ""
    start_tls: bool = False
    allow_plain: bool = False
    ca_file: str = ""
    title: str = "the company directory"
    timeout_seconds: float = 10

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("ldap", "ldaps") or not parts.hostname:
            raise ValueError("ldap.url must be ldaps://host or ldap://host")
        if parts.scheme == "ldap" and not (self.start_tls or self.allow_plain):
            raise ValueError("ldap.url is ldap://: set start_tls, or passwords go in the clear")
        if not (self.user_base or self.user_dn):
            raise ValueError("ldap needs user_base (to search) or user_dn")
        if self.user_base and "{username}" not in self.user_filter:
            raise ValueError("ldap.user_filter must hold {username}")
        if self.user_dn and "{username}" not in self.user_dn:
            raise ValueError("ldap.user_dn must hold {username}")


@dataclass(frozen=True, slots=True)
class SignInConfig:
    """The ways in, and which group of the company gives which role."""

    local: bool = True
    adopt_local: bool = False
    """Whether who comes by single sign-on takes over the local account of the same name."""
    oidc: OidcConfig | None = None
    ldap: LdapConfig | None = None
    roles: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """The groups that give each of `admin`, `operator` and `owner`; `*` is everybody.

    `admin@archive` and `operator@archive` are roles on that lake alone.
    """

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read the JSON form.

        Raises:
            TypeError, ValueError, AttributeError: it names a key that is not known or no value.
        """
        values = dict(data)
        if (oidc := values.get("oidc")) is not None:
            values["oidc"] = OidcConfig(**_lists_as_tuples(oidc))
        if (ldap := values.get("ldap")) is not None:
            values["ldap"] = LdapConfig(**ldap)
        values["roles"] = {role: _names(given) for role, given in values.get("roles", {}).items()}
        if unknown := sorted(role for role in values["roles"] if not _is_role(role)):
            raise ValueError(f"roles: {', '.join(unknown)} is no role")
        for key in ("local", "adopt_local"):
            if not isinstance(values.get(key, True), bool):
                raise TypeError(f"{key} must be true or false")
        return cls(**values)


def load_sign_in(path: Path) -> SignInConfig:
    """Read sign_in.json; a deployment without one has local accounts alone.

    Raises:
        ExternalFailure: it cannot be read, with what is wrong in it.
    """
    if not path.exists():
        return SignInConfig()
    try:
        return SignInConfig.from_dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise ExternalFailure(
            "sign_in.config",
            f"{path.name} cannot be used: {error}. Nobody but local accounts can come in until an "
            "operator repairs it (docs/operations.md, Single sign-on).",
            service="config",
            retryable=False,
        ) from error


def read_secret(file: str) -> str:
    """Read a secret from the first line of its file; no file, no secret.

    Raises:
        ExternalFailure: the file cannot be read.
    """
    if not file:
        return ""
    try:
        return next(iter(secret_lines(Path(file).read_text(encoding="utf-8"))), "")
    except OSError as error:
        raise ExternalFailure(
            "sign_in.secret_file",
            f"The secret file {file} of the log-in server cannot be read: {error.strerror}.",
            service="config",
            retryable=False,
        ) from error


def _lists_as_tuples(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(one) if isinstance(one, list) else one for key, one in values.items()}


def _is_role(text: str) -> bool:
    role, at, lake = text.partition("@")
    return (role in ("admin", "operator") and bool(lake) == bool(at)) or text == "owner"


def _names(given: object) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise TypeError("roles must give a list of group names for each role")
    return tuple(given)
