"""Tests the rules of API tokens: secret, name, scopes and days."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from portal.access.scopes import Scope, register_scope
from portal.lake.errors import RuleViolation
from portal.people.token_rules import (
    MOST_CHARS,
    MOST_DAYS,
    TokenParams,
    digest_of,
    is_use_noted,
    new_secret,
)

KNOWN = ("refresh", "wait")
WISH = TokenParams("nightly load", ("refresh",), 90)
NOW = datetime(2026, 11, 20, 9, 0, tzinfo=UTC)


def test_secrets_are_long_never_the_same_and_fit_into_a_header() -> None:
    made = {new_secret() for _ in range(1000)}
    assert len(made) == 1000
    for secret in made:
        assert secret.startswith("lw_")
        assert len(secret) == 46
        assert secret.isascii()
        assert secret.isprintable()
        assert " " not in secret


def test_the_digest_holds_for_whatever_is_sent() -> None:
    assert digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    for odd in ("", "\x00", "\ud800", "é" * 10_000):
        assert len(digest_of(odd)) == 64


def test_a_wish_is_brought_into_one_form() -> None:
    wish = TokenParams("  nightly load ", ("wait", "refresh", "wait"), 1)
    assert wish.checked(KNOWN) == TokenParams("nightly load", ("refresh", "wait"), 1)
    longest = replace(WISH, n_days=MOST_DAYS, name="x" * MOST_CHARS)
    assert longest.checked(KNOWN) == longest


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (replace(WISH, name=" "), "token.name"),
        (replace(WISH, name="a\nb"), "token.name"),
        (replace(WISH, name="a\u2028b"), "token.name"),
        (replace(WISH, name="x" * (MOST_CHARS + 1)), "token.name"),
        (replace(WISH, n_days=0), "token.days"),
        (replace(WISH, n_days=-1), "token.days"),
        (replace(WISH, n_days=MOST_DAYS + 1), "token.days"),
        (replace(WISH, scopes=()), "token.scope_none"),
        (replace(WISH, scopes=("refresh", "approve")), "token.scope_unknown"),
    ],
)
def test_a_wish_that_breaks_a_rule_is_refused_in_words(wish: TokenParams, code: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        wish.checked(KNOWN)
    assert refused.value.code == code
    assert refused.value.message.endswith(".")


def test_without_scopes_the_refusal_says_so() -> None:
    with pytest.raises(RuleViolation, match="no room of this portal takes tokens"):
        WISH.checked(())


def test_a_use_is_written_down_once_a_minute() -> None:
    assert not is_use_noted(None, NOW)
    assert is_use_noted(NOW, NOW)
    assert is_use_noted(NOW, NOW + timedelta(seconds=59))
    assert not is_use_noted(NOW, NOW + timedelta(minutes=1))


@pytest.mark.parametrize("name", ["", "Refresh", "re fresh", "-x", "x" * 33])
def test_a_scope_is_one_lower_case_word(name: str) -> None:
    with pytest.raises(ValueError, match="no name of a scope"):
        register_scope(Scope(name, "whatever"))
