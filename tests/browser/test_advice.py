"""An advice that the demo found, tried, applied and measured within its played days."""

import pytest
from playwright.sync_api import expect

from optimizer.advice.domain.layout_advice import LEAST_SCANS
from stack.demo_advice import QUESTIONS_A_DAY
from tests.browser.conftest import Opener
from tests.browser.demo import Demo

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def test_an_advice_was_tried_applied_and_measured_in_the_played_days(
    demo: Demo, opened: Opener
) -> None:
    (row,) = demo.portal_rows(
        "SELECT a.id, a.proposed, a.n_before, a.n_after,"
        " a.bytes_after * 1.0 / a.n_after / (a.bytes_before * 1.0 / a.n_before), t.saved"
        " FROM optimizer_advice a JOIN optimizer_trial t ON t.advice_id = a.id"
        " WHERE a.state = 'APPLIED' AND a.subject = 'layout' AND t.state = 'KEEP'"
    )
    advice, layout, n_before, n_after, measured, saved = row
    assert n_before == 2 * QUESTIONS_A_DAY
    assert n_after >= QUESTIONS_A_DAY > LEAST_SCANS
    assert measured < 0.6
    assert saved > 0.4
    days = demo.portal_rows(
        "SELECT s.day, sum(s.n_bytes) / sum(s.n_scans) FROM optimizer_scanshape s"
        ' JOIN optimizer_icebergtable t ON t.id = s.table_id WHERE t."table" = ?'
        " GROUP BY s.day ORDER BY s.day",
        "shipments",
    )
    assert len(days) >= 3
    assert days[0][1] == days[1][1] > 1.5 * days[2][1]

    alice = opened("alice")
    inbox = alice.go("/optimizer/advice/?state=APPLIED&trial=KEEP")
    expect(inbox.get_by_text(layout).first).to_be_visible()
    page = alice.go(f"/optimizer/advice/{advice}/")
    alice.wait_for_charts()
    expect(page.get_by_role("heading", name=layout)).to_be_visible()
    expect(page.get_by_text("Applied").first).to_be_visible()
    expect(page.get_by_role("heading", name="Trial on a branch")).to_be_visible()
    text = alice.text()
    assert f"{100 * measured:.0f} %" in text
    assert "not yet" not in text
