"""Sends a person to the company's OpenID Connect provider, and verifies its response.

The code flow with PKCE (S256), state and nonce. Nothing is believed that the provider's own keys
did not sign: issuer, audience, nonce and times of the ID token are checked here, every time. The
provider is asked again at each log-in, so a rotated key or a moved endpoint needs no restart.
"""

import hmac
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from urllib.parse import urlencode, urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

from portal.connectors.identity import Identity
from portal.connectors.sign_in_config import LOOPBACK, OidcConfig, read_secret
from portal.lake.errors import ExternalFailure, NotAllowed

# Only the provider's own keys: with HS256 or `none` anybody could have written the token.
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512"]
SKEW = timedelta(seconds=60)
PROOF_SECONDS = 60
_SERVICE = "oidc"


@dataclass(frozen=True, slots=True)
class Begun:
    """What is kept while the person is away at the provider; never leaves the session."""

    state: str
    nonce: str
    verifier: str
    at: float
    is_proof: bool = False

    def as_dict(self) -> dict[str, Any]:
        """Return the form that a session keeps."""
        return asdict(self)

    @classmethod
    def of(cls, kept: Mapping[str, Any]) -> Self:
        """Read what a session kept."""
        return cls(**kept)


class Oidc:
    """One provider, for one log-in."""

    def __init__(self, config: OidcConfig, *, redirect_uri: str) -> None:
        self.config = config
        self._http = OAuth2Session(
            config.client_id,
            read_secret(config.client_secret_file) or None,
            scope=" ".join(config.scopes),
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            default_timeout=config.timeout_seconds,
        )
        self._http.verify = config.ca_file or True

    def begin(self, *, is_proof: bool, now: datetime) -> tuple[str, Begun]:
        """Return the address to send the person to, and what to keep meanwhile.

        `is_proof`: the provider must ask who they are once more, whatever it remembers.
        """
        begun = Begun(
            state=generate_token(43),
            nonce=generate_token(43),
            verifier=generate_token(64),
            at=now.timestamp(),
            is_proof=is_proof,
        )
        asks = {"prompt": "login", "max_age": str(PROOF_SECONDS)} if is_proof else {}
        url, _ = self._http.create_authorization_url(
            self._metadata()["authorization_endpoint"],
            state=begun.state,
            nonce=begun.nonce,
            code_verifier=begun.verifier,
            **asks,
        )
        return str(url), begun

    def finish(self, begun: Begun, *, code: str, now: datetime) -> Identity:
        """Exchange the code and give who the provider says it is.

        Raises:
            NotAllowed: the answer does not prove what it has to.
            ExternalFailure: the provider does not answer, or not as the standard says.
        """
        metadata = self._metadata()
        try:
            token = self._http.fetch_token(
                metadata["token_endpoint"], code=code, code_verifier=begun.verifier
            )
        except AuthlibBaseError as error:
            raise _refused(f"it did not take the code ({error.error})") from error
        except (requests.RequestException, ValueError) as error:
            raise self._down(error) from error
        keys = self._get(metadata["jwks_uri"])
        claims = verified(
            str(token.get("id_token", "")), keys, config=self.config, nonce=begun.nonce, now=now
        )
        if not {self.config.username_claim, self.config.groups_claim} <= claims.keys():
            claims = self._more(claims, metadata, str(token.get("access_token", "")))
        return identity_of(claims, config=self.config, begun=begun, now=now)

    def log_out_address(self, *, back: str) -> str:
        """Give where the person ends the provider's own session; empty when it has no such page."""
        address = self._metadata().get("end_session_endpoint", "")
        if not address:
            return ""
        asked = {"client_id": self.config.client_id, "post_logout_redirect_uri": back}
        return f"{address}?{urlencode(asked)}"

    def _metadata(self) -> dict[str, Any]:
        """Read the discovery document, which must be of the issuer that was asked for."""
        found = self._get(f"{self.config.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self.config.issuer:
            raise ExternalFailure(
                "oidc.issuer",
                f"{self.config.title} calls itself {found.get('issuer')!r}, not "
                f"{self.config.issuer!r}: sign_in.json must name it exactly so.",
                service=_SERVICE,
                retryable=False,
            )
        for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
            parts = urlsplit(str(found.get(name, "")))
            if parts.scheme != "https" and parts.hostname not in LOOPBACK:
                raise ExternalFailure(
                    "oidc.metadata",
                    f"{self.config.title} names no https address as its {name}.",
                    service=_SERVICE,
                    retryable=False,
                )
        return found

    def _more(self, claims: dict[str, Any], metadata: dict[str, Any], token: str) -> dict[str, Any]:
        """Ask the userinfo endpoint for what the ID token left out; the token's word goes first."""
        address = metadata.get("userinfo_endpoint")
        if not address or not token:
            return claims
        more = self._get(address, headers={"Authorization": f"Bearer {token}"})
        return {**more, **claims} if more.get("sub") == claims["sub"] else claims

    def _get(self, url: str, *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        try:
            answer = self._http.get(
                url, headers=headers, withhold_token=True, allow_redirects=False
            )
            answer.raise_for_status()
            found = answer.json()
        except (requests.RequestException, ValueError) as error:
            raise self._down(error) from error
        if not isinstance(found, dict):
            raise self._down(TypeError("no JSON object"))
        return found

    def _down(self, error: Exception) -> ExternalFailure:
        return ExternalFailure(
            "oidc.down",
            f"{self.config.title} does not answer as it should ({type(error).__name__}). Try "
            "again in a minute; if it stays, tell an operator.",
            service=_SERVICE,
            retryable=True,
        )


def verified(
    id_token: str, keys: Mapping[str, Any], *, config: OidcConfig, nonce: str, now: datetime
) -> dict[str, Any]:
    """Return the claims of an ID token after every check of the standard (Core 3.1.3.7).

    Raises:
        NotAllowed: it is not signed by the provider, not for us, not of this log-in, or too old.
    """
    rules = jwt.JWTClaimsRegistry(
        now=int(now.timestamp()),
        leeway=int(SKEW.total_seconds()),
        iss={"essential": True, "value": config.issuer},
        aud={"essential": True, "value": config.client_id},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        known = KeySet.import_key_set({"keys": keys["keys"]})
        claims = jwt.decode(id_token, known, ALGORITHMS).claims
        rules.validate(claims)
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _refused(f"its ID token does not hold ({error})") from error
    audience = claims["aud"]
    is_many = isinstance(audience, list) and len(audience) > 1
    if claims.get("azp", None if is_many else config.client_id) != config.client_id:
        raise _refused("its ID token was made for another program")
    if not hmac.compare_digest(str(claims.get("nonce", "")), nonce):
        raise _refused("its ID token belongs to another log-in")
    if not isinstance(claims["sub"], str) or not claims["sub"]:
        raise _refused("its ID token names nobody")
    return dict(claims)


def identity_of(
    claims: Mapping[str, Any], *, config: OidcConfig, begun: Begun, now: datetime
) -> Identity:
    """Return who the verified claims speak of; a proof must be as new as it was asked for."""
    at = _instant(claims.get("auth_time"), now=now)
    if begun.is_proof:
        requested_at = datetime.fromtimestamp(begun.at, tz=UTC)
        if at is None or at < requested_at - SKEW:
            raise NotAllowed(
                "oidc.auth_time",
                f"{config.title} did not ask you again who you are, so this does not count as "
                "proof. Sign out there first, or tell an operator.",
            )
    groups = claims.get(config.groups_claim)
    if isinstance(groups, str):
        groups = [groups]
    known = frozenset(str(one) for one in groups) if isinstance(groups, list) else None
    return Identity(
        subject=f"{config.issuer} {claims['sub']}"[:300],
        username=str(claims.get(config.username_claim, "")),
        name=_line(claims.get("name")),
        email=_line(claims.get("email")),
        groups=known,
        authenticated_at=at,
    )


def _instant(seconds: object, *, now: datetime) -> datetime | None:
    """Read `auth_time`; one that lies in the future is none, and never later than now."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        at = datetime.fromtimestamp(seconds, tz=UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return None if at > now + SKEW else min(at, now)


def _line(value: object) -> str:
    """Return one line of text: it will stand in mail headers and on pages."""
    return " ".join(str(value).split()) if isinstance(value, str) else ""


def _refused(reason: str) -> NotAllowed:
    return NotAllowed(
        "oidc.refused", f"The log-in was not accepted: {reason}. Begin again from the log-in page."
    )
