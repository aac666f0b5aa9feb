"""Django authentication backends: local password, directory, and OpenID Connect provider."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest
from django.utils import timezone

from portal.access.models import User
from portal.connectors.identity import Identity
from portal.connectors.ldap import Ldap
from portal.people.domain import Way
from portal.people.login_methods import sign_in_config, ways_shown
from portal.people.provisioning import person_arrives


class LocalBackend(ModelBackend):
    """Local accounts, while the deployment lets them in."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account whose password it is; None otherwise."""
        ways, _ = ways_shown()
        if not ways.local:
            return None
        user = super().authenticate(request, username=username, password=password, **kwargs)
        return user if isinstance(user, User) else None


class LdapBackend(ModelBackend):
    """People whom the company's directory knows, by the same form as local accounts."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Return the account of somebody whose password the directory takes; None otherwise.

        Raises:
            ExternalFailure: the directory does not answer.
            NotAllowed: it knows them, and they may not come in.
        """
        ways, _ = ways_shown()
        if ways.ldap is None:
            return None
        identity = Ldap(ways.ldap).sign_in((username or "").strip().lower(), password or "")
        if identity is None:
            return None
        return person_arrives(identity, Way.LDAP, config=ways, now=timezone.now())


class OidcBackend(ModelBackend):
    """People for whom the OpenID Connect provider vouches."""

    def authenticate(  # type: ignore[override]  # Django calls by the names in the signature
        self, request: HttpRequest | None, *, identity: Identity
    ) -> User:
        """Return the account of a verified identity, made at the first time."""
        return person_arrives(identity, Way.OIDC, config=sign_in_config(), now=timezone.now())
