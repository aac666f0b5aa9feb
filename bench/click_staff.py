"""The tasks of admins and operators: rules, the emergency stop, caches, table services, jobs."""

import re

from playwright.sync_api import expect

from bench.click_hand import Desk, Hand, Task


def what_if(hand: Hand) -> None:
    """The list of what is due, a table, another TTL."""
    hand.card("Due")
    hand.click(hand.page.locator("#list tbody a code"))
    hand.fill(hand.page.get_by_label(re.compile("TTL")), "20")
    hand.click(hand.page.get_by_role("button", name=re.compile("Preview|Show|Try")))
    expect(hand.page.locator("#main")).to_contain_text("instead of")


def stop(hand: Hand) -> None:
    """The icon of the top bar, then the button."""
    hand.click(hand.page.locator("summary[aria-label='Emergency stop']"))
    hand.button("Stop now")
    expect(hand.page.locator(".lw-red")).to_be_visible()


def release(hand: Hand) -> None:
    """The line of the stop, its page, the confirmation of the second admin."""
    hand.click(hand.page.locator(".lw-red-link"))
    hand.button("Confirm: end")
    expect(hand.page.locator(".lw-red")).to_have_count(0)


def _propose_release(desk: Desk) -> None:
    with desk.at_home("ada") as hand:
        hand.click(hand.page.locator(".lw-red-link"))
        hand.fill(hand.page.locator("#release textarea"), "It was a trial")
        hand.button("Propose to end")


def except_path(hand: Hand) -> None:
    """The number of violations, a row's request, its form, the request."""
    hand.card("Path rule violations")
    hand.click(hand.page.locator("summary", has_text="Request an exception"))
    panel = hand.page.locator("details[open]")
    hand.fill(panel.locator("textarea[name=reason], input[name=reason]"), "It moves next quarter")
    hand.click(panel.get_by_role("button", name=re.compile("request|ask", re.IGNORECASE)))
    expect(hand.page.locator("#main")).to_contain_text("exception is requested")


def repair(hand: Hand) -> None:
    """The card of stale tables, the table, its front end's button."""
    hand.card("Tables with stale results")
    hand.click(hand.page.locator("#list tbody a"))
    hand.button("Repair")
    expect(hand.page.locator("#main")).to_contain_text("is in the queue")


def _pause(desk: Desk) -> None:
    """Leave a cluster alone until its front ends answer with old data."""
    with desk.at_home("ada") as hand:
        hand.page.goto(f"{desk.site}/refresh/clusters/bi/?lake=main")
        hand.confirm("Pause", "Pause", reason="A trial")
        card = hand.page.locator(".lw-waiting a", has_text="Tables with stale results")
        for _ in range(60):
            hand.page.goto(f"{desk.site}/")
            if card.count():
                return
            hand.page.wait_for_timeout(2_000)
        expect(card).to_be_visible()


def _resume(desk: Desk) -> None:
    with desk.at_home("ada") as hand:
        hand.page.goto(f"{desk.site}/refresh/clusters/bi/?lake=main")
        hand.confirm("Resume", "Resume", reason="The trial is over")


def compact(hand: Hand) -> None:
    """The tables' health, the worst first; compact it."""
    hand.menu("Table services")
    hand.click(hand.page.locator("#list tbody a"))
    hand.button("Compact now")
    expect(hand.page.locator("#main")).to_contain_text("It is in the queue")


def execute_hudi(hand: Hand) -> None:
    """Table services, Hudi tables, the number of pending plans, all of them."""
    hand.menu("Table services")
    hand.click(hand.page.get_by_role("link", name="Hudi tables"))
    hand.click(hand.page.locator("#list tbody a[href*='#pending']"))
    hand.confirm("Execute all", "Execute all", reason="Nobody executes them")
    expect(hand.page.locator("#main")).to_contain_text("queue")


def run_log(hand: Hand) -> None:
    """Jobs, a run, its log."""
    hand.menu("Jobs")
    hand.click(hand.page.locator(".lw-table tbody a"))
    expect(hand.page.locator("#main")).to_contain_text("Log")


def see_queue(hand: Hand) -> None:
    """Table services, their queue."""
    hand.menu("Table services")
    hand.click(hand.page.get_by_role("link", name="Queue"))
    expect(hand.page.get_by_role("heading", level=1)).to_contain_text("ueue")


TASKS = (
    Task("what if the TTL were 20 days", "ada", what_if, "3 clicks, a field, 4 loads, 30 s"),
    Task("press the emergency stop", "ada", stop, "2 clicks, a reason, 3 loads, 25 s", goal=2),
    Task(
        "end the emergency stop, second admin", "ben", release,
        "2 clicks, a reason, 3 loads, 25 s, one admin", prepare=_propose_release,
    ),
    Task("except a path from a rule", "ada", except_path, "3 clicks, 2 fields, 3 loads, 60 s"),
    Task(
        "find the stale front end and repair it", "otto", repair, "2 clicks, 3 loads, 40 s",
        goal=3, prepare=_pause, tidy=_resume,
    ),
    Task(
        "compact the worst Iceberg table", "otto", compact,
        "4 clicks, a reason, 3 loads, 130 s", goal=3,
    ),
    Task("execute a pending Hudi plan", "otto", execute_hudi, "4 clicks, 4 loads"),
    Task("a run and its log", "ada", run_log, "2-3 clicks, 3 loads"),
    Task("see the queue", "otto", see_queue, "1 click, 1 load, of two queues"),
)  # fmt: skip
