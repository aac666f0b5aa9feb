"""What can only be seen on MariaDB, the portal's database in production; SQLite locks no rows.

Started by test_portal_on_mariadb.py in a process of its own, for Django has one database a process.
"""

from datetime import timedelta

import pytest
from django.db import connection

from lifecycle.drop.services.deletion_requests import deletion_request_close
from lifecycle.drop.services.execution import plan_execute
from lifecycle.drop.services.plans import plan_withdraw
from lifecycle.drop.services.standing_rules import standing_rule_end, standing_rules_refresh
from lifecycle.models import DropPlan, PlanState
from portal.access.models import OwnerMapping
from portal.access.services import get_user, person_create
from portal.approvals.services import approvals_lapse
from portal.collation import collation_check, collation_problems
from portal.runs.outbox.services import outbox_publish
from portal.runs.requests.services import run_cancel
from tests.component.lifecycle.drop.test_services_at_once import (
    HOUR,
    approved,
    decide,
    reject,
    waiting_rule,
    wish_of,
    world,
)
from tests.component.lifecycle.plan_world import LAKE, NOW, World
from tests.support.lock_order import lock_order

__all__ = ["world"]  # a fixture
pytestmark = pytest.mark.django_db(transaction=True)
AUDIT = "audit_audithead"


def test_this_is_mariadb() -> None:
    assert connection.vendor == "mysql"
    assert connection.features.has_select_for_update


def test_names_are_told_apart_as_the_lake_does() -> None:
    names = ["dt=a", "dt=a ", "dt=A", "dt=\xe1", "dt=a\t", "dt=\uff41"]
    for name in names:
        OwnerMapping.objects.create(lake=LAKE, owner=name, username="ada", added_at=NOW)
        assert OwnerMapping.objects.filter(owner=name).count() == 1
    owners = OwnerMapping.objects.order_by("owner").values_list("owner", flat=True)
    assert list(owners) == sorted(names)
    made = person_create("Ada", password="correct horse staple", email="")
    assert get_user("ada") == made
    assert get_user("ada ") is None


def test_a_database_that_compares_loosely_is_said_with_what_mends_it() -> None:
    assert collation_problems(connection) == []
    name = connection.settings_dict["NAME"]
    loose = "CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci"
    with connection.cursor() as cursor:
        try:
            cursor.execute("CREATE TABLE odd_one (id int PRIMARY KEY) ENGINE=InnoDB")
            cursor.execute(f"ALTER DATABASE `{name}` {loose}")
            cursor.execute(f"ALTER TABLE odd_one ADD COLUMN word varchar(9), CONVERT TO {loose}")
            (said,) = collation_check(databases=["default"])
            assert said.id == "portal.W001"
            assert f"The database {name}" in said.msg
            assert "1 of its" in said.msg
            assert "utf8mb4_nopad_bin" in said.msg
            for statement in (said.hint or "").splitlines()[1:]:
                cursor.execute(statement)
            assert collation_problems(connection) == []
        finally:
            cursor.execute(f"ALTER DATABASE `{name}` COLLATE utf8mb4_nopad_bin")
            cursor.execute("DROP TABLE odd_one")


def test_locks_are_taken_in_one_order_everywhere(world: World) -> None:
    """No two transactions lock two tables the other way round, and the audit chain comes last.

    Rows of one table are locked by key, one at a time; rows that a transaction made itself are
    nobody else's yet.
    """
    with lock_order() as order:
        started = approved(world)
        run = plan_execute(started.pk, now=NOW + HOUR)
        run_cancel(run.pk, user=world.person("otto"), now=NOW)
        DropPlan.objects.update(state=PlanState.LAPSED)
        rejected = reject(approved(world), world, "bert")
        wish_of(world)
        withdrawn = world.plan()
        plan_withdraw(withdrawn.pk, user=world.person("anna"), reason="no", now=NOW)
        wish = wish_of(world)
        deletion_request_close(wish.pk, user=world.person("alice"), reason="", now=NOW)
        world.plan()
        approvals_lapse(NOW + timedelta(days=4))
        rule = waiting_rule(world)
        decide(rule, world, "bert")
        decide(rule, world, "carl")
        standing_rules_refresh(LAKE, now=NOW + HOUR)
        standing_rule_end(rule.pk, user=world.person("bert"), reason="no", now=NOW)
        decide(waiting_rule(world), world, "bert", "REJECT")
        outbox_publish(lambda row: None, now=NOW + HOUR)
    assert rejected.state == PlanState.REJECTED
    assert any(AUDIT in tables for tables in order.transactions)
    pairs = order.pairs()
    assert {pair for pair in pairs if pair[::-1] in pairs} == set()
    after_audit = {later for earlier, later in pairs if earlier == AUDIT}
    assert after_audit == set(), order.transactions
