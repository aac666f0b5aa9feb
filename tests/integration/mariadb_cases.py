"""What can only be seen on MariaDB, the portal's database in production; SQLite locks no rows.

Started by test_portal_on_mariadb.py in a process of its own, for Django has one database a process.
"""

from datetime import timedelta

import pytest
from django.db import connection

from lifecycle.models import DropPlan, PlanState
from lifecycle.services.clean_now import clean_now_close
from lifecycle.services.plan_execution import plan_execute
from lifecycle.services.plans import plan_withdraw
from lifecycle.services.standing_rules import standing_rule_end, standing_rules_refresh
from portal.approvals.services import approvals_lapse
from portal.runs.outbox import outbox_publish
from portal.runs.services import run_cancel
from tests.component.plan_world import LAKE, NOW, World
from tests.component.test_services_at_once import (
    HOUR,
    approved,
    decide,
    reject,
    waiting_rule,
    wish_of,
    world,
)
from tests.support.lock_order import lock_order

__all__ = ["world"]  # a fixture
pytestmark = pytest.mark.django_db(transaction=True)
AUDIT = "audit_audithead"


def test_this_is_mariadb() -> None:
    assert connection.vendor == "mysql"
    assert connection.features.has_select_for_update


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
        clean_now_close(wish.pk, user=world.person("alice"), reason="", now=NOW)
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
