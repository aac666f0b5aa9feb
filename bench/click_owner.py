"""The tasks of owners of tables: answers to notices, and what was dropped."""

import re

from playwright.sync_api import Locator, expect

from bench.click_hand import LIVE_MS, Desk, Hand, Task
from bench.click_plans import drop

EXPIRING = "needs an answer"


def _done(hand: Hand, words: str) -> None:
    expect(hand.page.locator("#main")).to_contain_text(words)


def _row(hand: Hand, table: str) -> Locator:
    return hand.page.get_by_role("row").filter(has_text=table)


def _tick(hand: Hand, table: str) -> None:
    hand.card(EXPIRING)
    hand.click(_row(hand, table).get_by_role("checkbox"))
    hand.fill(hand.page.get_by_label("Reason for all"), "The report of the year")


def keep_all(hand: Hand) -> None:
    """Home, the card of what needs an answer, all of it, 30 days."""
    hand.card(EXPIRING)
    hand.click(hand.page.locator("input[name=everything]"))
    hand.fill(hand.page.get_by_label("Reason for all"), "Needed for the year's report")
    hand.click(hand.page.locator("button[value=KEEP-30]"))
    _done(hand, "Kept")


def keep_one(hand: Hand) -> None:
    """Home, the card, one table, 30 days."""
    _tick(hand, "sales.carts")
    hand.click(hand.page.locator("button[value=KEEP-30]"))
    _done(hand, "Kept 1 table")


def keep_for_ever(hand: Hand) -> None:
    """Home, the card, one table, for ever; an admin agrees later."""
    _tick(hand, "sales.price_list")
    hand.confirm("Keep for ever", "Keep the ticked tables for ever")
    _done(hand, "waits for a yes")


def hand_over(hand: Hand) -> None:
    """Home, the card, one table, the person, the offer."""
    _tick(hand, "sales.invoices")
    hand.click(hand.page.locator("summary", has_text="Hand over"))
    hand.fill(hand.page.get_by_label("New owner"), "bob")
    hand.button("Offer the ticked tables")
    _done(hand, "waits for a yes")


def let_go(hand: Hand) -> None:
    """Home, the card, one table, let it go."""
    _tick(hand, "sales.coupons_raw")
    hand.confirm("Let it go", "Let the ticked tables go")
    _done(hand, "Let 1 table go")


def why_expiring(hand: Hand) -> None:
    """Home, the card, the number of what is due of a table, a partition."""
    hand.card(EXPIRING)
    hand.click(_row(hand, "sales.returns").get_by_role("link", name=re.compile(r"^\d+$")))
    hand.page.wait_for_load_state()
    hand.click(hand.page.locator("#list tbody a"))
    _done(hand, "Newest file")


def restore(hand: Hand) -> None:
    """Home, the number of what can be restored, the day, the table's button."""
    hand.card("Can be restored")
    hand.click(hand.page.locator("#list tbody a"))
    hand.click(_row(hand, "media.images").get_by_role("button", name="Restore"))
    expect(hand.page.locator("#restore-live")).to_contain_text("has ended", timeout=LIVE_MS)


def look_inside(hand: Hand) -> None:
    """Home, the number of what can be restored, the day, the table, its contents."""
    hand.card("Can be restored")
    hand.click(hand.page.locator("#list tbody a"))
    hand.link("media.images")
    hand.click(hand.page.locator(".lw-head-actions").get_by_text("Show contents"))
    heading = hand.page.get_by_role("heading", name="Columns")
    expect(heading).to_be_visible(timeout=LIVE_MS)


def _drop_images(desk: Desk) -> None:
    drop(desk, "media.images")


TASKS = (
    Task("why is it expiring", "alice", why_expiring, "3 clicks, 4 loads, 15 s"),
    Task("keep a table 30 days", "alice", keep_one, "4 clicks, a reason, 4 loads, 25 s"),
    Task("keep for ever", "alice", keep_for_ever, "4 clicks, a reason, 4 loads, 25 s"),
    Task("hand over", "alice", hand_over, "4 clicks, 2 fields, 4 loads, 35 s"),
    Task("let it go", "alice", let_go, "4 clicks, a reason, 4 loads, 25 s"),
    Task(
        "look inside a backup", "erin", look_inside, "5 clicks, 6 loads, 70 s",
        prepare=_drop_images,
    ),
    Task("restore a dropped table", "erin", restore, "3 clicks, 4 loads, 45 s", goal=3),
    Task("keep all that needs an answer", "bob", keep_all, "about 32 clicks, 8 reasons", goal=3),
)  # fmt: skip
