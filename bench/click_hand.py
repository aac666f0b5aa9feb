"""Counts what one person does in the browser: clicks, filled fields and page loads."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Locator, Page

from stack.people import DEMO_PASSWORD

PATIENCE_MS = 20_000
LIVE_MS = 120_000
"""How long a run may take whose end a preparation waits for."""


@dataclass
class Hand:
    """One person at a browser; every click and filled field is counted."""

    page: Page
    n_clicks: int = 0
    n_fields: int = 0
    n_loads: int = 0
    began: float = field(default_factory=time.monotonic)

    def click(self, where: Locator) -> None:
        """Click once on the first that fits."""
        where.first.click()
        self.n_clicks += 1

    def fill(self, where: Locator, text: str) -> None:
        """Write into the first field that fits."""
        where.first.fill(text)
        self.n_fields += 1

    def link(self, name: str) -> None:
        """Click a link of the page's content."""
        self.click(self.page.locator("#main").get_by_role("link", name=name))

    def menu(self, entry: str) -> None:
        """Click an entry of the menu."""
        self.click(self.page.get_by_role("navigation").get_by_role("link", name=entry))

    def card(self, words: str) -> None:
        """Click a card of Home: what waits, or a number."""
        self.click(self.page.locator(".lw-waiting a, a.lw-stat", has_text=words))

    def button(self, name: str) -> None:
        """Click a button."""
        self.click(self.page.get_by_role("button", name=name))

    def confirm(self, opens: str, button: str, *, reason: str = "") -> None:
        """Open a confirmation, say why where it asks, and confirm."""
        self.click(self.page.locator("summary", has_text=opens))
        panel = self.page.locator("details[open]")
        if reason:
            self.fill(panel.locator("textarea[name=reason], input[name=reason]"), reason)
        self.click(panel.get_by_role("button", name=button))


@dataclass(frozen=True)
class Desk:
    """Where people of the demo sit down one after another."""

    browser: Browser
    site: str

    @contextmanager
    def at_home(self, who: str) -> Iterator[Hand]:
        """Sign in, uncounted, and stand on Home."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 900})
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(f"{self.site}/login/")
        page.get_by_label("User name").fill(who)
        page.get_by_label("Password").fill(DEMO_PASSWORD)
        page.get_by_role("button", name="Sign in").click()
        page.wait_for_load_state("networkidle")
        hand = Hand(page)

        def loaded(_: Page) -> None:
            hand.n_loads += 1

        page.on("load", loaded)
        yield hand
        context.close()


@dataclass(frozen=True)
class Task:
    """A task of the survey: who does it, how, what it took before, and the goal in clicks.

    `prepare` is done by others beforehand, `tidy` afterwards; neither is counted.
    """

    name: str
    who: str
    do: Callable[[Hand], None]
    before: str
    goal: int | None = None
    prepare: Callable[[Desk], None] | None = None
    tidy: Callable[[Desk], None] | None = None
