"""The tasks of admins with plans: draw up, approve and reject a drop, relocate a path."""

import re

from playwright.sync_api import expect

from bench.click_hand import LIVE_MS, Desk, Hand, Task


def _create(hand: Hand, *tables: str) -> None:
    hand.menu("Approvals")
    hand.click(hand.page.get_by_role("link", name="Drop plans"))
    hand.link("New plan")
    for table in tables:
        hand.click(hand.page.get_by_role("checkbox", name=f"Choose {table}", exact=True))
    hand.button("Preview selection")
    hand.fill(hand.page.get_by_label(re.compile("Reason")), "Due for a month")
    hand.click(hand.page.get_by_role("button", name=re.compile("Create the plan")))
    expect(hand.page.locator("#plan-live")).to_contain_text("0 of 2 approvals", timeout=LIVE_MS)


def draw_up(hand: Hand) -> None:
    """Approvals, Drop plans, a new one, a table, its preview, the plan."""
    _create(hand, "sales.returns")


def _waiting(hand: Hand) -> None:
    """Go from Home to the plan that waits, or to the next of several."""
    card = hand.page.locator(".lw-waiting li", has_text="Drop plans to decide")
    hand.click(card.locator("a").last)


def _approve(hand: Hand) -> None:
    hand.click(hand.page.locator("#approve button", has_text="Approve:"))


def approve(hand: Hand) -> None:
    """Home, what waits, approve."""
    _waiting(hand)
    _approve(hand)
    expect(hand.page.locator("#main")).to_contain_text("1 of 2")


def reject(hand: Hand) -> None:
    """Home, what waits, the plan, reject with a reason."""
    _waiting(hand)
    hand.confirm("Reject", "Reject", reason="It is read by the monthly report")
    expect(hand.page.locator("#main")).to_contain_text("Rejected")


def drop(desk: Desk, table: str) -> None:
    """Have a table's due data planned, approved by two, and dropped."""
    with desk.at_home("ada") as hand:
        _create(hand, table)
        plan = hand.page.url
    for who in ("ben", "cleo"):
        with desk.at_home(who) as hand:
            hand.page.goto(plan)
            _approve(hand)
            expect(hand.page.locator("#main")).to_contain_text("Your approval was recorded")
            if who == "cleo":
                expect(hand.page.locator("#plan-live")).to_contain_text("Ended", timeout=LIVE_MS)


def relocate(hand: Hand) -> None:
    """The number of violations, Relocate paths, a path, the plan."""
    hand.card("Path rule violations")
    hand.link("Relocate paths")
    hand.click(hand.page.locator("#list tbody input[type=checkbox]"))
    hand.fill(hand.page.get_by_label(re.compile("Reason")), "It belongs to its owner's directory")
    hand.button("Create a plan")
    expect(hand.page.locator("#main")).to_contain_text("to move", timeout=LIVE_MS)


TASKS = (
    Task("draw up a plan", "ada", draw_up, "4-7 clicks, a reason, 4 loads, 40 s"),
    Task("approve a plan", "ben", approve, "4 clicks, 4 loads, 20 s", goal=2),
    Task("reject a plan", "cleo", reject, "2 clicks, a reason, 2 loads, 10 s, from the plan"),
    Task("plan a relocation", "ada", relocate, "4 clicks, a reason, 3 loads, 60 s"),
)
