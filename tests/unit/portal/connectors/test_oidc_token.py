"""Tests ID tokens: accepted only when every check of the standard holds."""

import base64
import hmac
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from portal.connectors.oidc import Begun, identity_of, verified
from portal.connectors.sign_in_config import OidcConfig
from portal.lake.errors import NotAllowed

NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)
AT = int(NOW.timestamp())
CONFIG = OidcConfig(issuer="https://id.example.com", client_id="lakewarden")
KEY = RSAKey.generate_key(2048, {"kid": "a"})
STRANGERS_KEY = RSAKey.generate_key(2048, {"kid": "a"})
KEYS = KeySet([KEY]).as_dict(private=False)
CLAIMS: dict[str, Any] = {
    "iss": "https://id.example.com",
    "aud": "lakewarden",
    "sub": "7",
    "iat": AT - 5,
    "exp": AT + 300,
    "nonce": "n",
    "preferred_username": "ada",
    "groups": ["lake-admins"],
    "auth_time": AT - 10,
}


def token(changes: dict[str, Any] | None = None, *, key: RSAKey = KEY, alg: str = "RS256") -> str:
    claims = {name: v for name, v in {**CLAIMS, **(changes or {})}.items() if v is not None}
    return jwt.encode({"alg": alg, "kid": "a"}, claims, key)


def by_public_key(body: str) -> str:
    """Seal with HS256 by the provider's public key, which everybody has."""
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"a"}').decode().rstrip("=")
    seal = hmac.digest(KEY.as_pem(private=False), f"{head}.{body}".encode(), "sha256")
    return f"{head}.{body}.{base64.urlsafe_b64encode(seal).decode().rstrip('=')}"


def claims_of(text: str, *, nonce: str = "n") -> dict[str, Any]:
    return verified(text, KEYS, config=CONFIG, nonce=nonce, now=NOW)


def test_a_right_token_is_believed() -> None:
    assert claims_of(token())["sub"] == "7"
    assert claims_of(token({"aud": ["lakewarden", "x"], "azp": "lakewarden"}))["sub"] == "7"
    assert claims_of(token({"exp": AT - 30}))["sub"] == "7", "clocks may differ by a minute"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "https://evil.example.com"},
        {"iss": "https://id.example.com/"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"aud": ["another"]},
        {"aud": ["lakewarden", "x"]},
        {"azp": "another"},
        {"exp": AT - 61},
        {"exp": None},
        {"exp": "soon"},
        {"iat": None},
        {"iat": AT + 3600},
        {"nbf": AT + 3600},
        {"nonce": "m"},
        {"nonce": None},
        {"sub": None},
        {"sub": ""},
        {"sub": 7},
    ],
)
def test_a_token_with_one_wrong_claim_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(NotAllowed) as refused:
        claims_of(token(changes))
    assert refused.value.code == "oidc.refused"


def test_a_token_that_the_provider_did_not_sign_is_refused() -> None:
    right = token()
    head, body, seal = right.split(".")
    forged = [
        token(key=STRANGERS_KEY),
        f"{head}.{body}.",
        f"{head}.{token({'sub': '8'}).split('.')[1]}.{seal}",
        by_public_key(body),
        # {"alg":"none"} with an empty seal
        f"eyJhbGciOiJub25lIn0.{body}.",
        "",
        "a.b.c",
        "x" * 10_000,
    ]
    for text in forged:
        with pytest.raises(NotAllowed):
            claims_of(text)


def begun(*, is_proof: bool) -> Begun:
    return Begun(state="s", nonce="n", verifier="v", at=AT - 100, is_proof=is_proof)


@pytest.mark.parametrize("auth_time", [None, AT - 161, AT - 86_400, AT + 3600, "x", True, 10**20])
def test_a_proof_that_is_older_than_its_question_is_none(auth_time: object) -> None:
    claims = {**CLAIMS, "auth_time": auth_time}
    with pytest.raises(NotAllowed) as refused:
        identity_of(claims, config=CONFIG, begun=begun(is_proof=True), now=NOW)
    assert refused.value.code == "oidc.auth_time"
    plain = identity_of(claims, config=CONFIG, begun=begun(is_proof=False), now=NOW)
    assert plain.authenticated_at is None or plain.authenticated_at < NOW - timedelta(minutes=2)


def test_what_is_said_of_a_person_becomes_one_line_each() -> None:
    claims = {**CLAIMS, "name": "Ada\r\nBcc: x", "email": "a@b.c\n", "groups": "one"}
    said = identity_of(claims, config=CONFIG, begun=begun(is_proof=True), now=NOW)
    assert (said.name, said.email) == ("Ada Bcc: x", "a@b.c")
    assert said.groups == frozenset({"one"})
    assert said.subject == "https://id.example.com 7"
    assert said.authenticated_at == NOW - timedelta(seconds=10)
    none = identity_of(
        {**CLAIMS, "groups": None}, config=CONFIG, begun=begun(is_proof=False), now=NOW
    )
    assert none.groups is None
