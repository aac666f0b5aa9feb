"""What the demo shows of quality and pipelines: a hidden day, an aggregate, a layer."""

import os
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from portal.connectors.metastore import Metastore
from portal.lake.readiness import is_ready
from stack.lake import payments, shop_tables
from stack.places import BROWSER_VAR, REPO
from tests.browser.conftest import Opener
from tests.browser.demo import Demo
from tests.browser.test_story import wait

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(1500, func_only=True)]

TABLE = f"{payments.PAYMENTS.db}.{payments.PAYMENTS.table}"
OF_TABLE = f"?table={payments.PAYMENTS.table}"
BY_STATE = "SELECT state, sum(total) AS revenue FROM shop.orders GROUP BY state"
A_RUN = 300.0
"""Seconds within which a busy machine starts Spark and does a little."""


def number_of(demo: Demo, sql: str) -> int:
    ((number,),) = demo.portal_rows(sql)
    return int(number)


def hidden(demo: Demo) -> list[str]:
    """Return the days that readers who ask for ready partitions do not see."""
    with Metastore.connect(demo.config) as metastore:
        names = metastore.partition_names(payments.PAYMENTS)
        found = metastore.partitions_by_names(payments.PAYMENTS, names)
    return [one.values[0] for one in found if not is_ready(one.parameters or {})]


def made_of_the_shop(demo: Demo) -> bool:
    """Whether both tables that are made of the captured ones are there."""
    return demo.portal_rows(
        "SELECT (SELECT count(*) FROM pipelines_materializationrefresh WHERE state = 'done') > 0"
        " AND (SELECT count(*) FROM pipelines_layeradvance WHERE state = 'done') > 0"
    ) == [(1,)]


def test_a_check_hides_a_day_and_what_is_made_of_the_shop_is_there(
    demo: Demo, opened: Opener
) -> None:
    (day,) = hidden(demo)
    alice, erin = opened("alice"), opened("erin")
    page = alice.go(f"/readiness/{OF_TABLE}")
    row = page.get_by_role("row").filter(has_text=f"dt={day}")
    expect(row).to_contain_text(re.compile(f"Not ready.*check {payments.BLOCKING} failed"))
    expect(page.locator("tbody")).not_to_contain_text(re.compile("Late|late"))
    page = alice.go(f"/readiness/incidents/{OF_TABLE}&rule={payments.BLOCKING}")
    expect(page.get_by_role("row").filter(has_text="alice")).to_contain_text("Open")
    incident = page.get_by_role("link", name=payments.BLOCKING).get_attribute("href") or ""
    page = alice.go(f"/readiness/checks/{OF_TABLE}")
    page.get_by_role("link", name=TABLE).click()
    alice.wait_for_charts()
    expect(page.locator(".lw-chart")).to_have_count(4)
    alice.keep("check-set")
    for address in (page.url, incident):
        erin.go(address)
        assert "Not found" in erin.text(), address
    assert TABLE not in erin.go(f"/readiness/checks/{OF_TABLE}").content()

    wait(lambda: made_of_the_shop(demo), seconds=2 * A_RUN, what="tables made of the shop's")
    number = number_of(demo, "SELECT id FROM pipelines_materialization")
    page = alice.go(f"/pipelines/materializations/{number}/")
    expect(page.get_by_title("Refreshed")).to_be_visible()
    alice.keep("materialization")
    page.get_by_role("link", name="Try it with its own query").click()
    assert page.get_by_label("Query", exact=True).input_value() == shop_tables.REVENUE_SQL
    # The browser itself notes the pages that erin does not find.
    erin.complaints = [words for words in erin.complaints if "404" not in words]
    assert not erin.complaints


@pytest.mark.long
def test_a_query_is_answered_and_the_day_is_mended(demo: Demo, opened: Opener) -> None:
    """By real runs; what they come to has cheaper tests by itself."""
    wait(lambda: made_of_the_shop(demo), seconds=2 * A_RUN, what="tables made of the shop's")
    alice = opened("alice")
    number = number_of(demo, "SELECT id FROM pipelines_materialization")
    page = alice.go(f"/pipelines/materializations/{number}/")
    page.get_by_role("link", name="Try it with its own query").click()
    page.get_by_label("Query", exact=True).fill(BY_STATE)
    page.get_by_role("button", name="Answer it from cubes").click()
    answered = page.get_by_text(f"Answered from {shop_tables.REVENUE}")
    expect(answered).to_be_visible(timeout=A_RUN * 1000)

    assert hidden(demo)
    subprocess.run(
        [sys.executable, "-m", "stack.cli", "demo", "--mend"],
        cwd=REPO,
        env={**os.environ, "LAKEWARDEN_VAR": str(BROWSER_VAR)},
        check=True,
    )
    page = alice.go(f"/readiness/checks/{OF_TABLE}")
    page.get_by_role("link", name=TABLE).click()
    page.get_by_role("button", name="Run now").click()
    wait(lambda: not hidden(demo), seconds=2 * A_RUN, what="the day that is ready")
    ((state,),) = demo.portal_rows(
        "SELECT state FROM readiness_incident WHERE rule = ?", payments.BLOCKING
    )
    assert state == "RECOVERED"
