"""The whole story: mail, why, plan, two approvals, drop with live progress, restore, equality."""

import re
import time
from collections.abc import Callable
from email.message import EmailMessage
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from portal.connectors.metastore import Metastore, to_json
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from tests.browser.conftest import Opener
from tests.browser.demo import Demo
from tests.browser.look import Person
from tests.browser.recount import PARTITIONS, listing, local

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(1500, func_only=True)]

LIVE_MS = 600_000
LINK = re.compile(r"https?://\S+/lifecycle/expiring/\S*")
# What a restore cannot give back: what the metastore and the portal set themselves.
OWN = re.compile(r"transient_lastDdlTime|lakewarden\..*")


def mailed_link(mails: list[EmailMessage]) -> str:
    """Return the link of the newest week-ahead mail."""
    for mail in reversed(mails):
        body = mail.get_body(("plain",))
        found = LINK.search(body.get_content()) if body else None
        if found:
            return found.group()
    raise AssertionError(f"no link in {len(mails)} mails")


def smallest_due_table(demo: Demo, owner: str) -> tuple[str, str]:
    """Choose a table of the owner with due data in an ACT database; the fewest items first."""
    rows = demo.portal_rows(
        'SELECT t.db, t."table" FROM lifecycle_tablefinding t'
        " JOIN lifecycle_latestscan c ON c.generation_id = t.generation_id"
        " JOIN lifecycle_databasesetting s ON s.lake = t.lake AND s.db = t.db"
        " WHERE t.owner = ? AND s.mode = 'ACT' AND t.n_clean_now > 0 AND t.n_partitions > 0"
        " AND NOT EXISTS (SELECT 1 FROM lifecycle_dropplantable p"
        '  WHERE p.db = t.db AND p."table" = t."table")'
        " ORDER BY t.n_clean_now, t.db",
        owner,
    )
    assert rows, f"{owner} has nothing due in an ACT database"
    return rows[0]


def partitions(demo: Demo, db: str, table: str) -> dict[str, Path]:
    """Return the registered partitions and where they lie, by plain SQL."""
    rows = demo.metastore_rows(PARTITIONS.format(db=db, table=table))
    return {name: local(location) for name, _, _, location in rows}


def registered(demo: Demo, db: str, table: str, names: list[str]) -> dict[str, list[str]]:
    """Return values, storage (schema, serde, place) and parameters of partitions."""
    name = TableName(LakeId("main"), db, table)
    with Metastore.connect(demo.config) as metastore:
        found = metastore.partitions_by_names(name, names)
    return {
        "/".join(one.values): [
            to_json(one.sd),
            *sorted(
                f"{key}={value}" for key, value in one.parameters.items() if not OWN.match(key)
            ),
        ]
        for one in found
    }


def wait(check: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not check():
        assert time.monotonic() < end, f"waited {seconds:.0f} s for {what}"
        time.sleep(1)


def make_plan(ada: Person, db: str, table: str) -> str:
    """Create a plan for one table; give its address."""
    page = ada.go(f"/lifecycle/plans/new/?lake=main&tables={db}.{table}")
    ada.keep("plan-new")
    page.get_by_label(re.compile("Reason")).fill("Old data of the story")
    page.get_by_role("button", name=re.compile("Create the plan")).click()
    expect(page.locator("#plan-live")).to_contain_text(
        re.compile("0 of 2 approvals|Failed"), timeout=LIVE_MS
    )
    assert "Failed" not in ada.text(), ada.text()
    ada.keep("plan-pending")
    return page.url


def approve(person: Person, address: str) -> Page:
    """Prove who one is, read what is lost, and approve."""
    person.prove_again("/" + address.split("/", 3)[3])
    page = person.page
    expect(page.get_by_text("Data to be removed")).to_be_visible()
    typed = page.locator("#typed-approve")
    if typed.count():
        typed.fill(page.locator("label[for=typed-approve] code").inner_text())
    person.keep(f"plan-approve-{person.name}")
    page.get_by_role("button", name=re.compile("Approve: drop")).click()
    expect(page.get_by_text("Your approval was recorded.")).to_be_visible()
    return page


def test_the_whole_story(demo: Demo, opened: Opener) -> None:
    alice = opened("alice", signed_in=False)
    db, table = smallest_due_table(demo, "alice")
    due = why_it_expires(demo, alice, db, table)
    before = partitions(demo, db, table)
    files_before = listing(before[name] for name in due)
    metadata_before = registered(demo, db, table, due)
    assert len(metadata_before) == len(due)

    ada, ben, cleo = opened("ada"), opened("ben"), opened("cleo")
    address = make_plan(ada, db, table)
    assert ada.page.locator("#approve").count() == 0, "who asked may not approve"
    approve(ben, address)
    page = approve(cleo, address)
    seen = watch_the_run(cleo, page)
    assert "Running" in seen, seen
    cleo.keep("plan-done")
    planned = names_in_plan(demo, address)
    gone_is_gone(demo, db, table, planned, before)
    alice.go(address)
    alice.keep("plan-as-alice")
    look_inside_and_drill(ada, alice, db, table)

    restore_with_one_click(alice, db, table)
    after = partitions(demo, db, table)
    assert after == before
    assert listing(after[name] for name in due) == files_before
    assert registered(demo, db, table, due) == metadata_before


def why_it_expires(demo: Demo, alice: Person, db: str, table: str) -> list[str]:
    """Follow the mailed link through the log-in to the reason; give the due partitions."""
    alice.go(mailed_link(demo.mails("alice")))
    alice.sign_in()
    page = alice.page
    expect(page.get_by_role("heading", level=1)).to_have_text("Expiring data")
    alice.keep("mail-lands-on-expiring")
    page.get_by_role("link", name=f"{db}.{table}").first.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(table)
    alice.keep("table")
    address = f"/lifecycle/tables/{db}/{table}/?lake=main&cls=CLEAN_NOW&size=200"
    rows = alice.go(address).locator("tbody tr", has=page.get_by_text("Due"))
    due = [text.split()[0] for text in rows.all_inner_texts() if "=" in text.split()[0]]
    assert due
    page.get_by_role("link", name=due[0], exact=True).first.click()
    expect(page.locator("#main")).to_contain_text("days")
    expect(page.locator("#main")).to_contain_text(due[0])
    alice.keep("why")
    return sorted(set(due))


def watch_the_run(person: Person, page: Page) -> set[str]:
    """Watch the plan's live part to its end without touching the page; give the states shown."""
    seen: set[str] = set()
    live = page.locator("#plan-live .lw-state").first

    def ended() -> bool:
        state = live.inner_text(timeout=60_000)
        if state not in seen and state == "Running":
            person.page.screenshot(path=person.keep("plan-running"))
        seen.add(state)
        return state in ("Done", "Failed")

    wait(ended, seconds=LIVE_MS / 1000, what="the end of the drop")
    assert "Failed" not in seen, page.locator("#main").inner_text()
    return seen


def names_in_plan(demo: Demo, address: str) -> list[str]:
    """Return the partitions that were dropped, as the audit record names them."""
    plan = address.rstrip("/").rsplit("/", 1)[-1].split("?")[0]
    rows = demo.portal_rows(
        "SELECT e.object_id FROM audit_auditevent e WHERE e.action = 'item.dropped'"
        " AND json_extract(e.data, '$.plan') = ?",
        plan,
    )
    return [name.split("/", 1)[1] for (name,) in rows]


def gone_is_gone(
    demo: Demo, db: str, table: str, names: list[str], before: dict[str, Path]
) -> None:
    """Neither the metastore nor the files know the dropped partitions; the rest is untouched."""
    assert names
    now = partitions(demo, db, table)
    assert set(now) == set(before) - set(names)
    assert not [before[name] for name in names if before[name].exists()]
    batches = demo.portal_rows(
        "SELECT path, n_bytes, n_files, n_items FROM act_backupbatch"
        " WHERE db = ? AND \"table\" = ? AND state = 'DROPPED'",
        db,
        table,
    )
    assert sum(n_items for *_, n_items in batches) == len(names)
    kept = [data_files(local(path)) for path in sorted({path for path, *_ in batches})]
    assert sum(n_files for n_files, _ in kept) == sum(n_files for _, _, n_files, _ in batches)
    assert sum(n_bytes for _, n_bytes in kept) == sum(n_bytes for _, n_bytes, _, _ in batches)


def data_files(sealed: Path) -> tuple[int, int]:
    """Count the data in a sealed directory by `find`; the run's own papers lie beside it."""
    papers = (".json", ".json.crc", "/restore_backup.py")
    rows = [
        line.split("|")
        for lines in listing([sealed]).values()
        for line in lines
        if line.startswith("f|") and not f"/{line.split('|')[1]}".endswith(papers)
    ]
    return len(rows), sum(int(row[2]) for row in rows)


def look_inside_and_drill(ada: Person, alice: Person, db: str, table: str) -> None:
    """Look into the backup without restoring it, then have it proven that it comes back."""
    to_the_backup(alice, db, table)
    page = alice.page
    page.get_by_role("button", name="Show contents").click()
    expect(page.get_by_role("heading", name="Columns")).to_be_visible(timeout=LIVE_MS)
    alice.keep("backup-contents")
    page = ada.go("/lifecycle/drills/?lake=main")
    page.get_by_role("button", name="Start a restore test").click()
    ada.keep("drill-running")
    state = page.locator(".lw-state").first
    expect(state).not_to_have_text("Running", timeout=LIVE_MS)
    assert state.inner_text() == "Verified", page.locator("#main").inner_text()
    expect(page.locator("#list")).to_contain_text(f"{db}.{table}")
    ada.keep("drill")


def to_the_backup(alice: Person, db: str, table: str) -> None:
    """Go from the list of days to the backup of the table."""
    page = alice.go("/lifecycle/backups/?lake=main")
    alice.keep("backups")
    page.locator("tbody a").first.click()
    alice.keep("backup-day")
    page.get_by_role("link", name=f"{db}.{table}").first.click()
    alice.keep("backup-table")


def restore_with_one_click(alice: Person, db: str, table: str) -> None:
    """Restore the table from its backup and wait until it is back."""
    to_the_backup(alice, db, table)
    page = alice.page
    page.get_by_role("button", name=re.compile("Restore all of it")).click()
    expect(page.locator("#restore-live")).to_contain_text("has ended", timeout=LIVE_MS)
    expect(page.locator("#restore-live .lw-state").first).to_have_text("Done")
    alice.keep("restore-done")
