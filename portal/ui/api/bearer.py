"""Authenticates programs by `Authorization: Bearer`, where a view names a scope for it.

A view takes tokens by its class attribute `token_scope`; everywhere else a token is refused
without being checked, and people sign in. A token needs no CSRF token, because no browser sends
it by itself; where one is sent, a session that comes along is not checked.
"""

from typing import Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from portal.access.models import User
from portal.access.scopes import all_scopes
from portal.lake.errors import NotAllowed
from portal.people.lockout import address_of
from portal.people.models import ApiToken
from portal.people.tokens import token_of

SCHEME = "Bearer"
# One message for whatever is wrong with a token: why stands in the log.
_REFUSED = "This API token is not good: it is wrong, ended or expired."


class BearerAuthentication(BaseAuthentication):
    """API tokens."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return the token's owner and the token; None where no token is sent.

        Raises:
            AuthenticationFailed: the token is not good.
            NotAllowed: the address takes no tokens, or the token lacks its scope.
        """
        kind, _, secret = get_authorization_header(request).decode("latin-1").partition(" ")
        if kind.lower() != SCHEME.lower():
            return None
        scope = _scope_of(request)
        if not scope:
            raise NotAllowed("token.not_here", "This address takes no API token; sign in for it.")
        token = token_of(secret.strip(), address=address_of(request._request), now=timezone.now())
        if token is None:
            raise AuthenticationFailed(_REFUSED, code="token.refused")
        if scope not in token.scopes:
            raise NotAllowed(
                "token.scope",
                f"This API token may not do this. Make one with the scope '{scope}'.",
                scope=scope,
            )
        return token.owner, token

    def authenticate_header(self, request: Request) -> str | None:
        """Name the scheme where tokens are taken: whoever sent nothing good gets 401, not 403."""
        return SCHEME if _scope_of(request) else None


def _scope_of(request: Request) -> str:
    return str(getattr((request.parser_context or {}).get("view"), "token_scope", ""))


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]  # library untyped
    """How the OpenAPI document names API tokens."""

    target_class = BearerAuthentication
    name = "apiToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """Describe the header."""
        scopes = "; ".join(f"{scope.name}: {scope.title}" for scope in all_scopes())
        return {
            "type": "http",
            "scheme": SCHEME.lower(),
            "description": f"A token from the page API tokens. Scopes: {scopes or 'none yet'}",
        }

    def get_security_requirement(self, auto_schema: Any) -> Any:
        """Name the scheme for the views that take tokens, and no other."""
        return {self.name: []} if getattr(auto_schema.view, "token_scope", "") else None
