"""Tests the keyboard: the portal can be used without a mouse."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(600, func_only=True)]


def focused(page: Page) -> str:
    """Say what has the focus: its text or label."""
    words: str = page.evaluate(
        "(document.activeElement.getAttribute('aria-label')"
        " || document.activeElement.innerText || document.activeElement.name || '').trim()"
    )
    return words


def tab_to(page: Page, wanted: str, *, at_most: int = 60) -> None:
    """Press Tab until `wanted` has the focus."""
    for _ in range(at_most):
        page.keyboard.press("Tab")
        if wanted in focused(page):
            return
    raise AssertionError(f"{wanted} is not reached by Tab")


def test_signing_in_and_opening_a_list_by_keys(opened: Opener) -> None:
    alice = opened("alice", signed_in=False)
    page = alice.go("/login/")
    page.keyboard.type("alice")
    page.keyboard.press("Tab")
    page.keyboard.type(alice.demo.password)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{alice.demo.url}/")
    page.keyboard.press("Tab")
    assert focused(page) == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.reload()
    tab_to(page, "Lifecycle")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Expiring data")


def test_focus_is_seen_and_menus_close_by_escape(opened: Opener) -> None:
    ada = opened("ada")
    page = ada.go("/red-button/")
    tab_to(page, "Account of ada")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Profile")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Profile")).to_be_hidden()
    assert focused(page).startswith("Account of ada")


def test_the_emergency_stop_is_pressed_and_ended_by_keys(opened: Opener) -> None:
    """Two keys stop; then one admin proposes the release, and another one confirms it."""
    ada = opened("ada")
    page = ada.go("/")
    tab_to(page, "Emergency stop")
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".lw-red")).to_contain_text("No reason given yet")
    tab_to(page, "reason")
    page.keyboard.type("A trial of the keyboard test")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".lw-red")).to_contain_text("A trial of the keyboard test")
    ada.keep("red-button-on")
    tab_to(page, "reason")
    page.keyboard.type("The trial is over")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator(".lw-red")).to_contain_text("ada proposed to end it")
    ada.keep("red-button-proposed")
    page = opened("ben").go("/red-button/")
    tab_to(page, "Confirm: end the emergency stop")
    page.keyboard.press("Enter")
    expect(page.locator(".lw-red")).to_have_count(0)


def test_a_wide_table_is_reached_and_scrolled_by_keys(opened: Opener) -> None:
    ada = opened("ada", width=700)  # narrower, rows are cards
    page = ada.go("/runs/")
    table = page.locator(".lw-table-wrap")
    assert table.evaluate("it => it.scrollWidth > it.clientWidth")
    table.focus()
    # A key pressed before the first paint scrolls nothing; a person presses again.
    for _ in range(20):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(100)
        if table.evaluate("it => it.scrollLeft") > 0:
            return
    raise AssertionError("the table is not scrolled by keys")
