"""How does Django learn who somebody is: by a local password, or by a log-in server's word?"""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest
from django.utils import timezone

from portal.access.models import User
from portal.connectors.identity import Identity
from portal.people.arrivals import person_arrives
from portal.people.domain import Way
from portal.people.ways import sign_in_config, ways_shown


class LocalBackend(ModelBackend):
    """Local accounts, while the deployment lets them in."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Give the account whose password it is; None otherwise."""
        ways, _ = ways_shown()
        if not ways.local:
            return None
        user = super().authenticate(request, username=username, password=password, **kwargs)
        return user if isinstance(user, User) else None


class OidcBackend(ModelBackend):
    """People for whom the OpenID Connect provider vouches."""

    def authenticate(  # type: ignore[override]  # Django calls by the names in the signature
        self, request: HttpRequest | None, *, identity: Identity
    ) -> User:
        """Give the account of a verified identity, made at the first time."""
        return person_arrives(identity, Way.OIDC, config=sign_in_config(), now=timezone.now())
