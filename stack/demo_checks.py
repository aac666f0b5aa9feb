"""The demo's checks: rules of a table, measured for five weeks of it, that hide its last day.

They are declared and measured while the last day is played, in the process that plays advice.
"""

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import compress
from pathlib import Path

from portal.connectors.lake_config import load_lakes
from portal.connectors.metastore import Metastore
from stack.demo_days import Made
from stack.lake import feed, payments
from stack.ledger import Ledger
from stack.programs import Programs
from stack.say import console
from stack.stack import LAKE, Stack


@dataclass(frozen=True)
class CheckStory:
    """What is wrong with a table, and who hears of it; `programs` runs nothing else meanwhile."""

    stack: Stack
    programs: Programs
    made: Made

    def play(self) -> None:
        """Declare rules and have them measured; once is enough."""
        with Metastore.connect(self.stack.config()) as metastore:
            has_payments = payments.is_there(metastore)
        if not has_payments or self.made.has("checks"):
            return
        command = ["check_rules", json.dumps(payments.CHECKS), "--lake", LAKE]
        command += ["--user", payments.OWNER, "--measure", str(payments.N_DAYS)]
        self.programs.portal(*command)
        self.made.keep("checks")


def set_up_readiness(stack: Stack, programs: Programs, made: Made) -> None:
    """Declare by when tables' partitions are ready; the portal looks as soon as it runs."""
    with Metastore.connect(stack.config()) as metastore:
        there = (feed.is_there(metastore), payments.is_there(metastore))
    feeds = (feed.FEED, feed.OWNER, feed.DAYS_DECLARED, feed.DECLARED)
    paid = (payments.PAYMENTS, payments.OWNER, payments.DAYS_DECLARED, payments.DECLARED)
    for mark, (name, owner, days, declared) in compress(
        (("ready rule", feeds), ("ready rule of payments", paid)), there
    ):
        table = f"{name.db}.{name.table}"
        with made.once(mark, f"By when partitions of {table} are ready") as todo:
            if todo:
                moment = datetime.now(UTC) - timedelta(days=days)
                command = ["ready_rule", table, "--lake", LAKE, *declared]
                programs.portal(*command, "--user", owner, "--now", moment.isoformat())


def mend(var: Path) -> int:
    """Take the second load of payments away, and say what a visitor does then."""
    ledger = Ledger(var / "stack.json")
    url = ledger.fact("url")
    if not url or not ledger.running():
        console.print("No demo is running: start it with [bold]./lakewarden demo[/] first.")
        return 2
    with Metastore.connect(load_lakes(var / "lakes.json")[LAKE]) as metastore:
        if not payments.is_there(metastore):
            console.print("This demo was made by an earlier version and has no such table.")
            return 2
        mended = payments.mend(metastore)
    table = f"{payments.PAYMENTS.db}.{payments.PAYMENTS.table}"
    said = f"{', '.join(mended)} of {table} has each payment once now."
    console.print(said if mended else f"Nothing was left to mend in {table}.")
    console.print(
        f"Open {url}/readiness/checks/?table={payments.PAYMENTS.table} as {payments.OWNER}, then "
        "the table, and choose [bold]Run now[/]. A minute after its rule passed the partition is "
        "ready, and its incident has recovered."
    )
    return 0
