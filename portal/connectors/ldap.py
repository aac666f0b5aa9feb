"""Checks a password in the company's LDAP directory, and reads a person's identity and groups.

A password is proven by a bind as the person, never compared. What a person types is escaped before
it stands in a filter or a name, and an empty password is refused: servers take it for a guest.
"""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ldap3 import ALL_ATTRIBUTES, ALL_OPERATIONAL_ATTRIBUTES, NONE, SUBTREE, Connection, Server, Tls
from ldap3.core.exceptions import LDAPException, LDAPInvalidCredentialsResult
from ldap3.utils.conv import escape_filter_chars
from ldap3.utils.dn import escape_rdn

from portal.connectors.identity import Identity
from portal.connectors.sign_in_config import LdapConfig, read_secret
from portal.lake.errors import ExternalFailure

_SERVICE = "ldap"
_MOST_GROUPS = 2_000
Entry = dict[str, Any]


class Ldap:
    """One directory server. Every call opens a connection of its own and closes it."""

    def __init__(self, config: LdapConfig) -> None:
        self.config = config

    @property
    def can_look_up(self) -> bool:
        """Whether people can be looked up without their password: a service account is set."""
        return bool(self.config.bind_dn and self.config.user_base)

    def sign_in(self, username: str, password: str) -> Identity | None:
        """Return who it is if the password is theirs; None otherwise, whatever was wrong.

        Raises:
            ExternalFailure: the server does not answer, or not as it should.
        """
        if not username or not password:
            return None
        with self._translated():
            dn = self._dn_of(username)
            if dn is None:
                return None
            try:
                with self._bound(dn, password) as connection:
                    return self._read(connection, dn, username)
            except LDAPInvalidCredentialsResult:
                return None

    def look_up(self, username: str) -> Identity | None:
        """Return what the directory knows of a person now; None when they are gone from it.

        Raises:
            ExternalFailure: the server does not answer, or no service account is set.
        """
        with self._translated(), self._service() as connection:
            entry = self._find(connection, username)
            return None if entry is None else self._identity(connection, entry, username)

    def _dn_of(self, username: str) -> str | None:
        """Return the person's name in the directory: by the template, else by a search."""
        if self.config.user_dn:
            return self.config.user_dn.replace("{username}", escape_rdn(username))
        with self._service() as connection:
            entry = self._find(connection, username)
            return None if entry is None else str(entry["dn"])

    def _find(self, connection: Connection, username: str) -> Entry | None:
        said = escape_filter_chars(username)
        found = self._search(
            connection, self.config.user_base, self.config.user_filter.replace("{username}", said)
        )
        if len(found) > 1:
            raise ExternalFailure(
                "ldap.ambiguous",
                f"{self.config.title} knows {len(found)} people called {username!a}. An operator "
                "has to make ldap.user_filter narrower.",
                service=_SERVICE,
                retryable=False,
            )
        return found[0] if found else None

    def _read(self, connection: Connection, dn: str, username: str) -> Identity | None:
        """Read the person's own entry, as the person or (where one is set) the service account."""
        found = self._search(connection, dn, "(objectClass=*)")
        if not found:
            raise self._failed("ldap.unreadable", "your own entry cannot be read")
        if not self.can_look_up:
            return self._identity(connection, found[0], username)
        with self._service() as service:
            return self._identity(service, found[0], username)

    def _identity(self, connection: Connection, entry: Entry, username: str) -> Identity:
        dn = str(entry["dn"])
        known = _unchanging(entry, self.config.id_attribute) or dn.lower()
        return Identity(
            subject=f"{self.config.url} {known}"[:300],
            username=username,
            name=_first(entry, self.config.name_attribute),
            email=_first(entry, self.config.mail_attribute),
            groups=self._groups(connection, dn, username),
        )

    def _groups(self, connection: Connection, dn: str, username: str) -> frozenset[str]:
        if not self.config.group_base:
            return frozenset()
        wanted = self.config.group_filter.replace("{dn}", escape_filter_chars(dn)).replace(
            "{username}", escape_filter_chars(username)
        )
        found = self._search(connection, self.config.group_base, wanted)
        return frozenset(
            str(name)
            for entry in found
            for name in entry["attributes"].get(self.config.group_attribute, ())
        )

    def _search(self, connection: Connection, base: str, wanted: str) -> list[Entry]:
        connection.search(
            base,
            wanted,
            search_scope=SUBTREE,
            attributes=[ALL_ATTRIBUTES, ALL_OPERATIONAL_ATTRIBUTES],
            size_limit=_MOST_GROUPS,
            time_limit=int(self.config.timeout_seconds),
        )
        return [one for one in connection.response or [] if one.get("type") == "searchResEntry"]

    @contextmanager
    def _service(self) -> Iterator[Connection]:
        """Bind as the service account; anonymously where none is set."""
        password = read_secret(self.config.bind_password_file)
        try:
            with self._bound(self.config.bind_dn, password) as connection:
                yield connection
        except LDAPInvalidCredentialsResult as error:
            raise self._failed(
                "ldap.service_account", "it does not take the portal's own password"
            ) from error

    @contextmanager
    def _bound(self, dn: str, password: str) -> Iterator[Connection]:
        config = self.config
        tls = Tls(validate=ssl.CERT_REQUIRED, ca_certs_file=config.ca_file or None)
        server = Server(config.url, tls=tls, get_info=NONE, connect_timeout=config.timeout_seconds)
        connection = Connection(
            server,
            user=dn or None,
            password=password or None,
            receive_timeout=config.timeout_seconds,
            raise_exceptions=True,
            auto_referrals=False,
            check_names=False,
            return_empty_attributes=False,
            read_only=True,
        )
        try:
            connection.open()
            if config.start_tls:
                connection.start_tls()
            connection.bind()
            yield connection
        finally:
            connection.unbind()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (LDAPException, OSError) as error:
            raise self._failed(
                "ldap.down", f"it does not answer ({type(error).__name__})"
            ) from error

    def _failed(self, code: str, reason: str) -> ExternalFailure:
        return ExternalFailure(
            code,
            f"{self.config.title} cannot be asked: {reason}. Try again in a minute; if it stays, "
            "tell an operator.",
            service=_SERVICE,
            retryable=code == "ldap.down",
        )


def _unchanging(entry: Entry, attribute: str) -> str:
    """Return the attribute that never changes as text: Active Directory keeps it as bytes."""
    for name, values in entry["raw_attributes"].items():
        if name.lower() == attribute.lower() and values:
            raw = bytes(values[0])
            return (
                raw.decode("ascii") if raw.isascii() and raw.decode().isprintable() else raw.hex()
            )
    return ""


def _first(entry: Entry, attribute: str) -> str:
    """Return an attribute's first value as one line; names are compared without regard to case."""
    for name, values in entry["attributes"].items():
        if name.lower() == attribute.lower():
            value = values[0] if isinstance(values, list) and values else values
            return " ".join(str(value).split()) if value else ""
    return ""
