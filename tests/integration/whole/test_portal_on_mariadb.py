"""The portal on MariaDB: what people and processes do at once, in real transactions; sums; rows.

Django has one database a process, so a pytest of its own runs the files below against the full
stack's server. All other tests run on SQLite.
"""

import os
import subprocess
import sys

from stack.places import REPO
from stack.servers.mariadb import COLLATION, PORTAL
from stack.stack import Stack

FILES = (
    "tests/integration/whole/mariadb_cases.py",
    "tests/component/lifecycle/drop/test_services_at_once.py",
    "tests/component/optimizer/policies/test_optimizer_policies.py::test_two_people_at_once_and_one_of_them_is_first",
    "tests/component/portal/runs/test_leases.py::test_of_many_one_leads",
    "tests/component/portal/runs/test_run_request.py::test_of_many_workers_one_claims",
    "tests/component/portal/approvals/test_approvals.py::test_two_approve_at_the_same_moment",
    "tests/component/lifecycle/drop/test_plan_life.py::test_a_plan_started_by_two_at_once_runs_once",
    "tests/component/portal/audit/test_audit.py::test_writers_at_the_same_moment_make_one_chain",
    "tests/component/whole/test_page_costs.py::test_the_pages_of_a_plan_of_10_000_items_read_few_rows",
    "tests/component/lifecycle/drop/test_plan_parts.py",
    "tests/component/portal/people/test_token_services.py::test_two_use_and_two_end_one_token_at_once",
    "tests/component/portal/people/test_token_services.py::test_no_token_is_made_while_its_account_closes",
    "tests/component/refresh/changes/test_refresh_noting.py",
    "tests/component/refresh/changes/test_refresh_noting_many.py",
    "tests/component/refresh/changes/test_refresh_at_once.py",
    "tests/component/quality/freshness/test_ready_rules.py::"
    "test_what_somebody_took_back_is_theirs_until_they_say_otherwise",
    "tests/component/optimizer/discovery/test_optimizer_hearing.py",
    "tests/component/optimizer/fleet/test_fleet_at_once.py",
    "tests/component/optimizer/iceberg/planner/test_optimizer_queue.py::test_a_run_takes_its_tasks_once",
    "tests/component/refresh/worker/test_refresh_worker.py::test_r5_a_dead_front_end_makes_it_degraded_not_failed",
    "tests/component/refresh/worker/test_refresh_worker.py::"
    "test_what_a_dead_worker_left_is_called_lost_and_done_again",
)


def test_the_stack_makes_a_database_that_tells_names_apart(full_stack: Stack) -> None:
    assert full_stack.mariadb is not None
    with full_stack.mariadb.connect(PORTAL) as link, link.cursor() as cursor:
        cursor.execute("SELECT @@collation_database")
        assert cursor.fetchone() == (COLLATION,)


ACCOUNT_FILES = (
    "tests/integration/whole/database_account_cases.py",
    "tests/component/lifecycle/drop/test_services_at_once.py",
)


def test_services_meet_without_a_deadlock(full_stack: Stack) -> None:
    check_passes(full_stack, *FILES)


def test_the_portal_works_as_an_account_that_cannot_change_the_audit(full_stack: Stack) -> None:
    check_passes(full_stack, "-p", "tests.support.as_app_account", *ACCOUNT_FILES)


def check_passes(full_stack: Stack, *words: str) -> None:
    """Run tests on the stack's MariaDB in a pytest of their own."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--create-db", *words],
        check=False,
        cwd=REPO,
        env={**os.environ, "LAKEWARDEN_DB_URL": full_stack.env["LAKEWARDEN_DB_URL"]},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    assert "passed" in done.stdout
