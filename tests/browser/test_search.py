"""The search field by keyboard, by finger and without scripts."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.look import NARROW, WIDE

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(900, func_only=True)]


@pytest.mark.parametrize("width", [pytest.param(WIDE, marks=pytest.mark.long), NARROW])
def test_the_field_is_found_and_used_by_keyboard_alone(opened: Opener, width: int) -> None:
    ada = opened("ada", width=width)
    page = ada.go("/runs/")
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search tables")
    expect(field).to_be_focused()
    page.keyboard.type("audit log")
    option = page.get_by_role("option", name="Audit log")
    expect(option).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(option).to_have_attribute("aria-selected", "true")
    ada.keep(f"search-{width}")
    page.keyboard.press("Escape")
    expect(option).to_be_hidden()
    expect(field).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(option).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/audit/"))


def test_a_slash_is_typed_into_another_field(opened: Opener) -> None:
    page = opened("ada").go("/search/")
    text = page.get_by_label("Part of a name, database.table, or an id")
    text.click()
    page.keyboard.type("a/b")
    expect(text).to_have_value("a/b")


def test_without_scripts_the_field_is_a_form(opened: Opener) -> None:
    page = opened("ada", script=False).go("/runs/")
    page.get_by_label("Search tables, databases, plans, runs and pages").fill("audit log")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("/search/"))
    page.get_by_role("main").get_by_role("link", name="Audit log").click()
    page.wait_for_url(re.compile("/audit/"))
