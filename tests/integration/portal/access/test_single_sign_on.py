"""Single sign-on against a real OpenID Connect provider: the whole walk, and every way to cheat."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from portal.access.fresh import authenticated_at, is_fresh
from portal.access.models import User
from portal.access.services import person_create
from portal.audit.models import AuditEvent
from portal.connectors.oidc import Begun, Oidc
from portal.connectors.sign_in_config import SignInConfig
from portal.lake.errors import NotAllowed
from stack.ledger import Ledger
from stack.servers.oidc import CLIENT_ID, OidcProvider
from tests.support.oidc_walk import Walker, query_of

PORTAL = "http://127.0.0.1:8000"
PASSWORD = "the company's own password"
PEOPLE = {
    "ada": ["lake-admins", "staff"],
    "ben": ["lake-admins"],
    "olga": ["staff"],
    "eve": ["visitors"],
}
pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OidcProvider]:
    var = tmp_path_factory.mktemp("oidc")
    server = OidcProvider(
        var, ledger=Ledger(var / "stack.json"), people=PEOPLE, password=PASSWORD, portal=PORTAL
    )
    server.start()
    server.wait_ready()
    yield server
    server.stop()


@pytest.fixture
def ways(provider: OidcProvider, tmp_path: Path, settings: Any) -> dict[str, Any]:
    """What sign_in.json says; a test that changes it writes it again by `write`."""
    settings.LAKEWARDEN_BASE_URL = PORTAL
    settings.LAKEWARDEN_SIGN_IN = tmp_path / "sign_in.json"
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    said = {
        "oidc": {
            "title": "Example ID",
            "issuer": provider.issuer,
            "client_id": CLIENT_ID,
            "client_secret_file": str(provider.secret_file),
        },
        "roles": {"admin": ["lake-admins"], "operator": ["lake-ops"], "owner": ["staff"]},
    }
    settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps(said), encoding="utf-8")
    return said


def walker(name: str) -> Walker:
    return Walker(name, PASSWORD)


def session_of(one: Walker) -> Any:
    return type("Request", (), {"session": one.client.session})()


def test_a_person_comes_in_by_the_code_flow_and_gets_their_roles(ways: dict[str, Any]) -> None:
    ada = walker("ada")
    wanted = reverse("ui:profile")
    asked = query_of(ada.begin(wanted))
    assert asked["code_challenge_method"] == "S256"
    assert asked["response_type"] == "code"
    assert len(asked["state"]) > 40
    assert len(asked["nonce"]) > 40
    answer = ada.walk(back=wanted)
    assert answer["Location"] == wanted
    user = User.objects.get(username="ada")
    assert user.roles_on("") == {"admin"}
    assert (user.email, user.has_usable_password()) == ("ada@example.com", False)
    assert is_fresh(session_of(ada), timezone.now())
    assert AuditEvent.objects.filter(action="person.created", object_id="ada").exists()
    assert AuditEvent.objects.filter(action="person.roles", object_id="ada").exists()
    olga = walker("olga")
    olga.walk()
    assert User.objects.get(username="olga").roles_on("") == frozenset()


def test_who_is_in_no_group_is_told_so_and_gets_no_account(ways: dict[str, Any]) -> None:
    eve = walker("eve")
    answer = eve.walk()
    assert answer["Location"].startswith(reverse("ui:login"))
    assert "none of the groups" in eve.said()
    assert not eve.is_in
    assert not User.objects.filter(username="eve").exists()


def test_a_tampered_state_or_code_lets_nobody_in(ways: dict[str, Any]) -> None:
    for change in (
        lambda address: re.sub(r"state=[^&]+", "state=forged", address),
        lambda address: re.sub(r"[?&]state=[^&]+", "", address),
        lambda address: re.sub(r"code=[^&]+", "code=forged", address),
        lambda address: re.sub(r"code=[^&]+", "error=access_denied", address),
    ):
        ada = walker("ada")
        assert ada.walk(home=change)["Location"].startswith(reverse("ui:login"))
        assert not ada.is_in
    assert "access_denied" in ada.said()


def test_an_answer_is_good_once_and_for_its_own_browser(ways: dict[str, Any]) -> None:
    ada, thief = walker("ada"), walker("eve")
    address = ada.at_provider(ada.begin())
    thief.begin()
    thief.back(address)
    assert not thief.is_in
    ada.back(address)
    assert ada.is_in
    again = walker("ada")
    again.client.cookies = ada.client.cookies
    again.back(address)
    assert "not begun here" in again.said() or again.is_in


def test_a_tampered_nonce_or_verifier_lets_nobody_in(ways: dict[str, Any]) -> None:
    for key in ("nonce", "verifier"):
        ada = walker("ada")
        address = ada.at_provider(ada.begin())
        session = ada.client.session
        (entry,) = session["lw_oidc"].values()
        entry["begun"][key] = "x" * 64
        session.save()
        ada.back(address)
        assert not ada.is_in
        assert "was not accepted" in ada.said()
    ada = walker("ada")
    ada.walk(out=lambda address: re.sub(r"nonce=[^&]+", "nonce=other", address))
    assert not ada.is_in


def test_an_expired_token_and_another_time_are_refused(
    ways: dict[str, Any], provider: OidcProvider
) -> None:
    config = SignInConfig.from_dict(ways).oidc
    assert config is not None
    for late, is_good in ((timedelta(0), True), (timedelta(days=2), False)):
        ada = walker("ada")
        address = ada.at_provider(ada.begin())
        (entry,) = ada.client.session["lw_oidc"].values()
        oidc = Oidc(config, redirect_uri=f"{PORTAL}{reverse('ui:sign-in-back')}")
        kept, code = Begun.of(entry["begun"]), query_of(address)["code"]
        if is_good:
            assert oidc.finish(kept, code=code, now=timezone.now() + late).username == "ada"
            continue
        with pytest.raises(NotAllowed, match="does not hold"):
            oidc.finish(kept, code=code, now=timezone.now() + late)


def test_a_wrong_issuer_and_a_provider_that_is_down_are_told(
    ways: dict[str, Any], provider: OidcProvider, settings: Any
) -> None:
    for issuer, words in (
        (provider.issuer.replace("127.0.0.1", "localhost"), "calls itself"),
        ("http://127.0.0.1:1", "does not answer"),
    ):
        ways["oidc"]["issuer"] = issuer
        settings.LAKEWARDEN_SIGN_IN.unlink()
        settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps(ways), encoding="utf-8")
        ada = walker("ada")
        answer = ada.client.get(reverse("ui:sign-in-begin"))
        assert answer["Location"] == reverse("ui:login") + "?next=%2F"
        assert words in ada.said()


def test_a_group_that_is_gone_takes_the_role_and_other_sessions(
    ways: dict[str, Any], provider: OidcProvider
) -> None:
    first, second = walker("ben"), walker("ben")
    first.walk()
    assert User.objects.get(username="ben").roles_on("") == {"admin"}
    try:
        provider.put("ben", ["staff"])
        second.walk()
        assert second.is_in
        assert User.objects.get(username="ben").roles_on("") == frozenset()
        assert first.client.get(reverse("ui:profile")).status_code == 302, "the old session ended"
        provider.put("ben", [])
        third = walker("ben")
        third.walk()
        assert not third.is_in
        assert second.client.get(reverse("ui:profile")).status_code == 302
    finally:
        provider.put("ben", PEOPLE["ben"])
    event = AuditEvent.objects.filter(action="person.roles", object_id="ben").first()
    assert event is not None
    assert (event.data["before"], event.data["after"]) == (["admin"], [])


def old(one: Walker) -> None:
    session = one.client.session
    session["lw_authenticated_at"] = timezone.now().timestamp() - 3600
    session.save()


def test_a_proof_asks_again_and_makes_the_login_fresh(ways: dict[str, Any]) -> None:
    ada = walker("ada")
    ada.walk()
    old(ada)
    wanted = reverse("ui:audit")
    page = ada.client.get(reverse("ui:fresh-login"), {"next": wanted}).content.decode()
    assert "Confirm at Example ID" in page
    assert 'type="password"' not in page
    asked = query_of(ada.begin(wanted))
    assert asked["prompt"] == "login"
    assert ada.n_asked == 1
    answer = ada.walk(back=wanted)
    assert ada.n_asked == 2, "the provider remembered the person and asked nothing"
    assert answer["Location"] == wanted
    assert is_fresh(session_of(ada), timezone.now())


def test_a_browser_that_leaves_out_the_question_proves_nothing(ways: dict[str, Any]) -> None:
    """The person cuts `prompt=login` out of the address: the provider answers from memory."""
    ada = walker("ada")
    ada.walk()
    old(ada)
    address = re.sub(r"&(prompt|max_age)=[^&]+", "", ada.begin())
    session = ada.client.session
    (entry,) = session["lw_oidc"].values()
    entry["begun"]["at"] += 120  # as if the question came two minutes after the log-in
    session.save()
    answer = ada.back(ada.at_provider(address))
    assert ada.n_asked == 1
    assert answer["Location"].startswith(reverse("ui:fresh-login"))
    page = ada.client.get(reverse("ui:fresh-login")).content.decode()
    assert "did not ask you again" in page
    at = authenticated_at(session_of(ada))
    assert at is not None
    assert timezone.now() - at > timedelta(minutes=50)


def test_a_proof_is_of_the_same_person(ways: dict[str, Any]) -> None:
    ada = walker("ada")
    ada.walk()
    old(ada)
    address = ada.begin()
    ada.username = "ben"
    answer = ada.back(ada.at_provider(address))
    assert answer["Location"].startswith(reverse("ui:fresh-login"))
    assert int(ada.client.session["_auth_user_id"]) == User.objects.get(username="ada").pk
    assert not is_fresh(session_of(ada), timezone.now())


def test_the_name_of_a_local_account_is_not_taken_over(ways: dict[str, Any], settings: Any) -> None:
    person_create("olga", password="correct horse staple", email="", roles=["admin"])
    olga = walker("olga")
    olga.walk()
    assert not olga.is_in
    assert "already" in olga.said()
    settings.LAKEWARDEN_SIGN_IN.unlink()
    settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps({**ways, "adopt_local": True}))
    olga.walk()
    assert olga.is_in
    user = User.objects.get(username="olga")
    assert user.roles_on("") == frozenset(), "roles come from the groups alone"
    assert not user.has_usable_password()


def test_who_signs_out_is_shown_the_way_out_at_the_provider(
    ways: dict[str, Any], provider: OidcProvider
) -> None:
    ada = walker("ada")
    ada.walk()
    answer = ada.client.post(reverse("ui:logout"))
    assert not ada.is_in
    page = ada.client.get(answer["Location"]).content.decode()
    assert "sign out there too" in page
    away = ada.client.get(reverse("ui:sign-in-out"))["Location"]
    assert away.startswith(provider.issuer)
    assert query_of(away)["post_logout_redirect_uri"] == f"{PORTAL}{reverse('ui:login')}"
    assert ada.http.get(away, timeout=20).status_code == 200


def test_a_client_secret_that_is_replaced_counts_at_the_next_log_in(
    ways: dict[str, Any], provider: OidcProvider, tmp_path: Path, settings: Any
) -> None:
    file = tmp_path / "client_secret"
    file.write_text("former\n", encoding="utf-8")
    ways["oidc"]["client_secret_file"] = str(file)
    settings.LAKEWARDEN_SIGN_IN.unlink()
    settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps(ways), encoding="utf-8")
    ada = walker("ada")
    ada.walk()
    assert not ada.is_in
    right = provider.secret_file.read_text(encoding="utf-8")
    file.write_text(f"{right}\nformer\n", encoding="utf-8")
    again = walker("ada")
    again.walk()
    assert again.is_in
