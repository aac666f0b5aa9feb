"""One served demo and one Chromium for all browser tests."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from tests.browser.demo import Demo, served
from tests.browser.look import ARGUMENTS, PATIENCE_MS, Person

Opener = Callable[..., Person]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Look at all pages last: the story leaves them a plan, a backup and a restore test to show."""
    items.sort(key=lambda item: item.path.name == "test_pages.py")


@pytest.fixture(scope="session")
def demo() -> Iterator[Demo]:
    """The demo as `./lakewarden demo --detach` serves it."""
    with served() as running:
        yield running


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Debian's Chromium."""
    expect.set_options(timeout=PATIENCE_MS)  # the first page of a site on a busy machine takes long
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", headless=True, args=ARGUMENTS
        )
        yield chromium
        chromium.close()


@pytest.fixture
def opened(browser: Browser, demo: Demo) -> Iterator[Opener]:
    """Open a window for a person, signed in unless told otherwise; all are closed at the end."""
    people: list[Person] = []

    def open_for(name: str, *, signed_in: bool = True, **options: Any) -> Person:
        person = Person(browser, demo, name, **options)
        people.append(person)
        return person.sign_in() if signed_in else person

    yield open_for
    for person in people:
        person.close()
