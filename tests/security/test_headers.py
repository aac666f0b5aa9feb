"""Tests headers: all responses carry those that keep a browser from helping an attacker."""

import re

import pytest
from django.urls import reverse

from tests.security.grid import GRID
from tests.security.target import Target
from tests.security.test_access_grid import address

pytestmark = pytest.mark.django_db(transaction=True)

INLINE = re.compile(
    r"<script(?![^>]*(\bsrc=|type=\"application/json\"))[^>]*>|<style\b|\sstyle=|\son[a-z]+=\"|javascript:",
    re.IGNORECASE,
)


def pages() -> list[str]:
    return [
        name
        for name, row in GRID.items()
        if row.is_get and "admin" in row.reads and "api" not in name and name != "ui:schema"
    ]


def test_every_page_is_closed_by_its_headers(target: Target) -> None:
    client = target.client("admin")
    for name in [*pages(), "ui:api", "ui:api-explorer"]:
        answer = client.get(address(name, target))
        policy = answer["Content-Security-Policy"]
        assert "unsafe" not in policy, name
        assert "default-src 'self'" in policy, name
        assert "frame-ancestors 'none'" in policy, name
        assert answer["X-Content-Type-Options"] == "nosniff", name
        assert answer["X-Frame-Options"] == "DENY", name
        assert answer["Referrer-Policy"] == "same-origin", name


def test_no_page_has_inline_script_or_style(target: Target) -> None:
    client = target.client("admin")
    for name in [*pages(), "ui:api"]:
        text = b"".join(client.get(address(name, target))).decode()
        assert not INLINE.search(text), (name, INLINE.search(text))


def test_error_pages_are_closed_too(target: Target) -> None:
    answer = target.client("admin").get("/nothing/")
    assert answer.status_code == 404
    assert "default-src 'self'" in answer["Content-Security-Policy"]


def test_cookies_are_out_of_scripts_reach(target: Target) -> None:
    client = target.client("nobody")
    client.get(reverse("ui:login"))
    form = {"username": "alice", "password": "a long enough password"}
    answer = client.post(reverse("ui:login"), form)
    assert answer.status_code == 302
    for name in ("sessionid", "csrftoken"):
        cookie = next(value for key, value in client.cookies.items() if key.endswith(name))
        assert cookie["httponly"], name
        assert cookie["samesite"] == "Lax", name
