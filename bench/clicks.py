"""Does people's tasks in the running demo, and counts clicks, fields, page loads and seconds.

Start `./lakewarden demo --detach` first; the tasks act on it. `python -m bench.clicks --help`; the
figures, beside those of the survey of the pages of before, are in bench/README.md.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from stack.people import DEMO_PASSWORD
from tests.browser.look import ARGUMENTS

PATIENCE_MS = 20_000


@dataclass
class Hand:
    """One person at a browser; every click and filled field is counted."""

    page: Page
    site: str
    n_clicks: int = 0
    n_fields: int = 0
    n_loads: int = 0
    began: float = field(default_factory=time.monotonic)

    def click(self, where: Locator) -> None:
        """Click once."""
        where.click()
        self.n_clicks += 1

    def fill(self, where: Locator, text: str) -> None:
        """Write into a field."""
        where.fill(text)
        self.n_fields += 1

    def named(self, role: str, name: str) -> Locator:
        """Return the first element of a role whose name contains this."""
        return self.page.get_by_role(role, name=name).first  # type: ignore[arg-type]  # any role


@dataclass(frozen=True)
class Task:
    """A task of the survey: who does it, how, what it took before, and the goal in clicks."""

    name: str
    who: str
    do: Callable[[Hand], None]
    before: str
    goal: int


def keep_eight(hand: Hand) -> None:
    """Home, the card of what needs an answer, all of it, 30 days."""
    hand.click(hand.page.locator(".lw-waiting a", has_text="needs an answer"))
    hand.click(hand.page.locator("input[name=everything]"))
    hand.fill(hand.page.get_by_label("Reason for all"), "Needed for the year's report")
    hand.click(hand.page.locator("button[value=KEEP-30]"))
    expect(hand.page.locator("#main")).to_contain_text("Kept")


def approve(hand: Hand) -> None:
    """Home, the plan that waits or the next of several, approve."""
    hand.click(
        hand.page.locator(".lw-waiting li", has_text="Drop plans to decide").locator("a").last
    )
    hand.click(hand.page.locator("#approve button", has_text="Approve:"))
    expect(hand.page.locator("#main")).to_contain_text("1 of 2")


def stop(hand: Hand) -> None:
    """The icon of the top bar, then the button."""
    hand.click(hand.page.locator("summary[aria-label='Emergency stop']"))
    hand.click(hand.named("button", "Stop now"))
    expect(hand.page.locator("body")).to_contain_text("stop")


TASKS = (
    Task("keep what needs an answer", "bob", keep_eight, "about 32 clicks, 8 reasons", 3),
    Task("approve a plan", "ben", approve, "4 clicks, 4 loads, 20 s", 2),
    Task("press the emergency stop", "ada", stop, "2 clicks, a reason, 3 loads, 25 s", 2),
)


@contextmanager
def at_home(browser: Browser, site: str, who: str) -> Iterator[Hand]:
    """Sign in, uncounted, and stand on Home."""
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    page.goto(f"{site}/login/")
    page.get_by_label("User name").fill(who)
    page.get_by_label("Password").fill(DEMO_PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_load_state("networkidle")
    hand = Hand(page, site)

    def loaded(_: Page) -> None:
        hand.n_loads += 1

    page.on("load", loaded)
    yield hand
    context.close()


def main(arguments: list[str]) -> None:
    """Do the tasks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--site", default="http://127.0.0.1:8000")
    parser.add_argument("only", nargs="*", help="parts of names of tasks")
    asked = parser.parse_args(arguments)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=ARGUMENTS)
        for task in TASKS:
            if asked.only and not any(part in task.name for part in asked.only):
                continue
            with at_home(browser, asked.site, task.who) as hand:
                hand.began = time.monotonic()
                task.do(hand)
                seconds = time.monotonic() - hand.began
                print(
                    f"{task.name} ({task.who}): {hand.n_clicks} clicks (goal {task.goal}), "
                    f"{hand.n_fields} fields, {hand.n_loads} loads, {seconds:.1f} s; "
                    f"before: {task.before}"
                )
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
