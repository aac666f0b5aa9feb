"""Tests every page for everybody: light and dark, wide and narrow, axe and console quiet."""

import pytest

from tests.browser.conftest import Opener
from tests.browser.demo import Demo
from tests.browser.look import NARROW, WIDE

pytestmark = [pytest.mark.slow, pytest.mark.spark, pytest.mark.timeout(1500, func_only=True)]

FIXED = {
    "home": "/",
    "expiring": "/lifecycle/expiring/",
    "expiring-none": "/lifecycle/expiring/?db=no_such_database",
    "paths": "/lifecycle/paths/",
    "paths-waived": "/lifecycle/paths/?state=WAIVED",
    "waivers": "/lifecycle/waivers/",
    "still-read": "/lifecycle/still-read/",
    "path-fixes": "/lifecycle/path-fixes/",
    "path-fix-new": "/lifecycle/path-fixes/new/",
    "databases": "/lifecycle/databases/",
    "holds": "/lifecycle/holds/",
    "calendar": "/lifecycle/calendar/",
    "calendar-later": "/lifecycle/calendar/?month=2027-01",
    "search": "/search/?q=orders",
    "search-none": "/search/?q=no_such_thing",
    "dropped": "/lifecycle/dropped/",
    "policy-alarms": "/lifecycle/policy-alarms/",
    "policy-alarms-none": "/lifecycle/policy-alarms/?actor=nobody_at_all",
    "approvals": "/approvals/",
    "approvals-all": "/approvals/?tab=all&state=any",
    "plans": "/lifecycle/plans/",
    "plan-new": "/lifecycle/plans/new/",
    "wishes": "/lifecycle/wishes/",
    "standing-rules": "/lifecycle/standing-rules/",
    "policy-requests": "/lifecycle/policy-requests/",
    "enrolments": "/lifecycle/enrolments/",
    "enrolment-new": "/lifecycle/enrolments/new/?level=1&ttl=60",
    "backups": "/lifecycle/backups/",
    "savings": "/lifecycle/savings/",
    "drills": "/lifecycle/drills/",
    "drills-none": "/lifecycle/drills/?requested_by=nobody_at_all",
    "tables": "/tables/",
    "tables-none": "/tables/?db=no_such_database",
    "refresh-tables": "/refresh/tables/",
    "refresh-tables-none": "/refresh/tables/?db=no_such_database",
    "refresh-queue": "/refresh/queue/",
    "refresh-history": "/refresh/history/",
    "clusters": "/refresh/clusters/",
    "clusters-none": "/refresh/clusters/?name=nobody_at_all",
    "cluster-add": "/refresh/add-cluster/",
    "cluster-edit": "/refresh/clusters/bi/edit/",
    "awaited": "/readiness/",
    "awaited-none": "/readiness/?db=no_such_database",
    "ready-rules": "/readiness/rules/",
    "ready-rule-new": "/readiness/rules/new/",
    "ready-readers": "/readiness/readers/",
    "incidents": "/readiness/incidents/",
    "incidents-none": "/readiness/incidents/?db=no_such_database",
    "checks": "/readiness/checks/",
    "checks-none": "/readiness/checks/?db=no_such_database",
    "check-new": "/readiness/checks/new/",
    "check-soda": "/readiness/checks/soda/",
    "check-coverage": "/readiness/checks/coverage/",
    "check-coverage-none": "/readiness/checks/coverage/?db=no_such_database",
    "iceberg-tables": "/optimizer/tables/",
    "iceberg-tables-none": "/optimizer/tables/?db=no_such_database",
    "hudi-tables": "/optimizer/hudi/",
    "hudi-tables-none": "/optimizer/hudi/?db=no_such_database",
    "optimizer-queue": "/optimizer/queue/",
    "cubes": "/optimizer/cubes/",
    "advice": "/optimizer/advice/",
    "removals": "/optimizer/removals/",
    "removals-none": "/optimizer/removals/?db=no_such_database",
    "optimizer-policies": "/optimizer/policies/",
    "optimizer-policies-none": "/optimizer/policies/?by=nobody_at_all",
    "hudi-policies": "/optimizer/hudi/policies/",
    "hudi-policies-none": "/optimizer/hudi/policies/?by=nobody_at_all",
    "runs": "/runs/",
    "runs-failed": "/runs/?state=FAILED",
    "audit": "/audit/",
    "mails": "/mails/",
    "mails-failed": "/mails/?state=FAILED",
    "people": "/people/",
    "people-none": "/people/?username=nobody_at_all",
    "owners": "/owners/",
    "tokens": "/tokens/",
    "tokens-none": "/tokens/?name=no_such_program",
    "token-new": "/tokens/new/",
    "red-button": "/red-button/",
    "health": "/health/",
    "profile": "/profile/",
    "api": "/api/",
    "login-again": "/login/again/",
}
STAFF_ONLY = {
    *("plan-new", "path-fix-new", "health", "enrolment-new"),
    *("people", "people-none", "owners"),
    *("clusters", "clusters-none", "cluster-add", "cluster-edit"),
}


def of_the_day(demo: Demo) -> dict[str, str]:
    """Return the pages of what the demo holds now, one of each sort."""
    pages = {}
    for name, sql in (
        ("partitions", "SELECT '/tables/' || db || '/' || \"table\" || '/partitions/'"
         " FROM lifecycle_tablefinding WHERE n_partitions > 20 ORDER BY generation_id DESC, db"),
        ("table-overview", "SELECT '/tables/' || db || '/' || name || '/'"
         " FROM catalog_table WHERE is_living ORDER BY level DESC, db"),
        ("database-tables", "SELECT '/databases/' || db || '/'"
         " FROM catalog_table WHERE is_living ORDER BY level DESC, db"),
        ("database", "SELECT '/lifecycle/databases/' || db || '/'"
         " FROM lifecycle_databasefinding ORDER BY generation_id DESC, db"),
        ("dropped-object", "SELECT '/lifecycle/dropped/' || public_id || '/'"
         " FROM lifecycle_droppedobject ORDER BY dropped_at DESC"),
        ("table", "SELECT '/tables/' || db || '/' || \"table\" || '/lifecycle/'"
         " FROM lifecycle_tablefinding WHERE n_partitions > 20 ORDER BY generation_id DESC, db"),
        ("database-policy", "SELECT '/lifecycle/databases/' || db || '/policy/'"
         " FROM lifecycle_databasefinding ORDER BY generation_id DESC, db"),
        ("shadow", "SELECT '/lifecycle/databases/' || db || '/shadow/'"
         " FROM lifecycle_dryrunrecord ORDER BY day DESC, db"),
        ("run", "SELECT '/runs/' || id || '/' FROM runs_run WHERE state = 'DONE'"
         " ORDER BY queued_at DESC"),
        ("plan", "SELECT '/lifecycle/plans/' || id || '/' FROM lifecycle_dropplan"),
        ("backup", "SELECT '/lifecycle/backups/batches/' || public_id || '/'"
         " FROM act_backupbatch"),
        ("backup-contents", "SELECT '/lifecycle/backups/days/' || day || '/' || db || '/' ||"
         " \"table\" || '/inside/' FROM act_backupbatch ORDER BY id DESC"),
        ("refresh-table", "SELECT '/refresh/tables/' || id || '/' FROM refresh_refreshtarget"
         " ORDER BY rank"),
        ("refresh-statement", "SELECT '/refresh/history/' || public_id || '/'"
         " FROM refresh_refresh ORDER BY id DESC"),
        ("iceberg-table", "SELECT '/optimizer/tables/' || id || '/' FROM optimizer_icebergtable"
         " ORDER BY health IS NULL, health"),
        ("hudi-table", "SELECT '/optimizer/hudi/' || id || '/' FROM optimizer_huditable"
         " ORDER BY health IS NULL, health"),
        ("removal", "SELECT '/optimizer/removals/' || id || '/' FROM optimizer_removalplan"),
        ("policy-scope", "SELECT '/optimizer/policies/of/' || scope || '/' FROM"
         " optimizer_policyversion WHERE is_current AND format = 'iceberg' ORDER BY scope"),
        ("hudi-policy", "SELECT '/optimizer/hudi/' || id || '/policy/' FROM optimizer_huditable"
         " WHERE NOT is_deleted ORDER BY id"),
        ("task-cancel", "SELECT '/optimizer/tasks/' || id || '/cancel/' FROM"
         " optimizer_optimizetask ORDER BY is_open DESC, id"),
        ("advice-shown", "SELECT '/optimizer/advice/' || id || '/' FROM optimizer_advice"
         " ORDER BY trial_state = '', id"),
        ("drill", "SELECT '/lifecycle/drills/' || public_id || '/' FROM lifecycle_restoretest"
         " WHERE state = 'PROVEN' ORDER BY started_at DESC"),
    ):  # fmt: skip
        rows = demo.portal_rows(f"{sql} LIMIT 1")
        if rows:
            pages[name] = with_dashes(rows[0][0])
    if "iceberg-table" in pages:
        for tab in ("files", "layout", "commits", "tasks", "policy"):
            pages[f"iceberg-{tab}"] = f"{pages['iceberg-table']}{tab}/"
    for tab in ("indexes", "scans"):
        pages[f"table-{tab}"] = f"/tables/sales/web_logs/{tab}/"
    pages["table-cubes"] = "/tables/sales/orders_star/cubes/"
    pages["table-advice"] = "/tables/sales/shipments/advice/"
    if "hudi-table" in pages:
        for tab in ("timeline", "files", "services", "tasks", "settings", "plan"):
            pages[f"hudi-{tab}"] = f"{pages['hudi-table']}{tab}/"
    pages["optimizer-policy-new"] = "/optimizer/policies/new/"  # an operator sets none
    return pages


def of_the_owner(demo: Demo, name: str) -> dict[str, str]:
    """Return the pages on which an owner sees a part of what admins see."""
    found = of_the_day(demo)
    pages: dict[str, str] = {
        key: found[key] for key in ("backup-contents", "drill") if key in found
    }
    plans = "SELECT '/lifecycle/plans/' || plan_id || '/' FROM lifecycle_dropplantable"
    for (address,) in demo.portal_rows(f"{plans} WHERE owner = ? LIMIT 1", name):
        pages["plan"] = with_dashes(address)
    return pages


def with_dashes(address: str) -> str:
    """Spell the UUID of an address as the site does (SQLite keeps it without dashes)."""
    *before, last, end = address.split("/")
    if len(last) == 32 and "_" not in last:
        last = f"{last[:8]}-{last[8:12]}-{last[12:16]}-{last[16:20]}-{last[20:]}"
    return "/".join([*before, last, end])


@pytest.mark.parametrize(("theme", "width"), [("light", WIDE), ("dark", NARROW)])
def test_every_page_of_an_admin(demo: Demo, opened: Opener, theme: str, width: int) -> None:
    """Whole in one theme at one width, the rest in the other; each page fits in both widths."""
    ada = opened("ada", theme=theme, width=width)
    for name, address in (FIXED | of_the_day(demo)).items():
        ada.go(address)
        ada.wait_for_charts()
        ada.keep(name)
        ada.resize(NARROW if width == WIDE else WIDE)
        ada.wait_for_charts()
        ada.fits(name)
        ada.resize(width)


@pytest.mark.parametrize(("theme", "width"), [("light", WIDE), ("dark", NARROW)])
def test_what_an_owner_sees_of_plans_and_backups(
    demo: Demo, opened: Opener, theme: str, width: int
) -> None:
    alice = opened("alice", theme=theme, width=width)
    for name, address in of_the_owner(demo, "alice").items():
        alice.go(address)
        alice.keep(f"{name}-as-alice")


@pytest.mark.parametrize("name", ["alice", pytest.param("otto", marks=pytest.mark.long)])
def test_every_page_of_an_owner_and_of_an_operator(opened: Opener, name: str) -> None:
    """They are the pages of an admin with less on them, so axe looks at the admin's only."""
    person = opened(name)
    for title, address in FIXED.items():
        if name == "alice" and title in STAFF_ONLY:
            continue
        person.go(address)
        person.fits(f"{title}-as-{name}")


def test_the_log_in_page_and_a_page_that_is_not_there(opened: Opener) -> None:
    nobody = opened("nobody", signed_in=False)
    nobody.go("/login/")
    nobody.keep("login")
    nobody.page.get_by_label("User name").fill("alice")
    nobody.page.get_by_label("Password").fill("wrong")
    nobody.page.get_by_role("button", name="Sign in").click()
    nobody.keep("login-wrong")
    alice = opened("alice")
    alice.go("/lifecycle/tables/no_such/table/")
    assert "Not found" in alice.text()
    # The browser itself notes the 404 of the page that was asked for.
    alice.complaints = [words for words in alice.complaints if "404" not in words]
    alice.keep("not-found")


def test_pages_read_without_scripts(opened: Opener) -> None:
    ada = opened("ada", script=False, width=NARROW)
    for name, address in FIXED.items():
        page = ada.go(address)
        assert page.get_by_role("heading", level=1).is_visible(), name
        if name != "login-again":  # a door, not a page of the frame
            assert page.get_by_role("link", name="Jobs").first.is_visible(), name
        assert page.locator(".lw-chart-canvas:visible").count() == 0, name
        assert page.locator(".lw-chart-table table:visible").count() == (
            page.locator(".lw-chart").count()
        ), name


def test_the_theme_is_switched_and_kept(opened: Opener) -> None:
    ada = opened("ada")
    page = ada.go("/")
    with page.expect_response(lambda answer: answer.request.method == "POST"):
        page.get_by_role("button", name="Switch between light and dark").click()
    page.wait_for_function("document.documentElement.dataset.bsTheme === 'dark'")
    ada.go("/runs/")
    assert page.locator("html").get_attribute("data-bs-theme") == "dark"
    assert not ada.complaints
