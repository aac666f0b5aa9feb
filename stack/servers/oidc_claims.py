"""What the provider's tokens say of a person besides who they are."""

from typing import Any

from oauth2_provider.oauth2_validators import OAuth2Validator


class Validator(OAuth2Validator):  # type: ignore[misc]  # the package has no types
    """Adds name, mail and groups, each under its scope."""

    oidc_claim_scope = OAuth2Validator.oidc_claim_scope | {"groups": "groups"}

    def get_additional_claims(self, request: Any) -> dict[str, Any]:
        """Return the claims of the person who signed in."""
        user = request.user
        return {
            "preferred_username": user.username,
            "name": user.get_full_name(),
            "email": user.email,
            "groups": sorted(user.groups.values_list("name", flat=True)),
        }
