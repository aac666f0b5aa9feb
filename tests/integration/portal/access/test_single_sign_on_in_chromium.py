"""Single sign-on as people meet it: Chromium between the portal and a real OpenID provider.

The portal is `localhost`, the provider `127.0.0.1`: two sites to a browser, so that its rules for
cookies, forms and referrers between sites are in the way as they are at work.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from stack.ledger import Ledger
from stack.servers.oidc import CLIENT_ID, OidcProvider
from tests.browser.demo import Demo
from tests.browser.look import ARGUMENTS, NARROW, Person

PASSWORD = "the company's own password"
PEOPLE = {"ada": ["lake-admins", "staff"], "olga": ["staff"], "eve": ["visitors"]}
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def portal(live_server: LiveServer, tmp_path: Path, settings: Any) -> Iterator[Demo]:
    """The portal, with the provider that it sends people to."""
    provider = OidcProvider(
        tmp_path / "oidc",
        ledger=Ledger(tmp_path / "stack.json"),
        people=PEOPLE,
        password=PASSWORD,
        portal=live_server.url,
    )
    provider.start()
    said = {
        "oidc": {
            "title": "Example ID",
            "issuer": provider.issuer,
            "client_id": CLIENT_ID,
            "client_secret_file": str(provider.secret_file),
        },
        "roles": {"admin": ["lake-admins"], "owner": ["staff"]},
    }
    settings.LAKEWARDEN_BASE_URL = live_server.url
    settings.LAKEWARDEN_SIGN_IN = tmp_path / "sign_in.json"
    settings.LAKEWARDEN_SIGN_IN.write_text(json.dumps(said), encoding="utf-8")
    settings.LAKEWARDEN_LAKES = tmp_path / "lakes.json"
    provider.wait_ready()
    yield Demo(live_server.url, tmp_path)
    provider.stop()


@pytest.fixture
def chromium() -> Iterator[Browser]:
    """Started last and ended first: while it lives, Django's models are asked by no test."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True, args=ARGUMENTS
        )
        yield browser
        browser.close()


def at_provider(person: Person) -> None:
    """Press the button and log in on the provider's own page."""
    person.page.get_by_role("link", name="Sign in by Example ID").click()
    person.page.wait_for_url("http://127.0.0.1:*/accounts/login/**")
    person.page.get_by_label("Username").fill(person.name)
    person.page.get_by_label("Password").fill(PASSWORD)
    person.page.get_by_role("button", name="Log in").click()
    person.page.wait_for_url(f"{person.demo.url}/**")
    # Only the portal's own pages are on trial here.
    person.complaints = [words for words in person.complaints if person.demo.url in words]


def test_people_come_in_by_the_button_and_a_stranger_is_told(
    portal: Demo, chromium: Browser
) -> None:
    ada = Person(chromium, portal, "ada")
    ada.go("/profile/")
    ada.keep("sso-login")
    at_provider(ada)
    ada.page.wait_for_url(f"{portal.url}/profile/")
    facts = ada.page.locator("dl.lw-facts").first
    expect(facts).to_contain_text("ada@example.com")
    expect(facts).to_contain_text("admin")
    ada.page.get_by_label("Account of ada").click()
    ada.page.get_by_role("button", name="Sign out").click()
    ada.page.wait_for_url(f"{portal.url}/login/**")
    expect(ada.page.get_by_role("link", name="sign out there too")).to_be_visible()
    ada.keep("sso-signed-out")

    eve = Person(chromium, portal, "eve", theme="dark", width=NARROW)
    eve.go("/")
    at_provider(eve)
    eve.page.wait_for_url(f"{portal.url}/login/**")
    expect(eve.page.get_by_role("main")).to_contain_text("none of the groups")
    eve.keep("sso-stranger")
    eve.go("/profile/")
    assert "/login/" in eve.page.url
