"""Rows left in Hudi logs are listed by a person, and come back by exactly the approved list."""

from typing import Any

import pytest
from django.test import Client

from optimizer.core.services.dispatcher import claim
from optimizer.core.services.results import results_ingest
from optimizer.hudi.inspect.domain.facts import BlockState
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.planner.run_kinds import HudiRemoveKind
from optimizer.hudi.planner.services.actions import service_ask
from optimizer.hudi.planner.services.maintainer import HUDI
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.models import OptimizeTask, RemovalPlan
from optimizer.removals.services.claims import lists_claim
from portal.lake.errors import NotAllowed, StaleState
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_listed import LOST, approve, cool, orders
from tests.component.optimizer.hudi.hudi_task_rows import (
    allow,
    looked,
    run_of,
    said,
)
from tests.unit.optimizer.hudi.hudi_world import (
    NOW,
    block,
    done,
    logs,
    look,
    name,
)

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]


def test_lost_rows_are_listed_by_a_persons_wish_and_come_back_by_exactly_that_list(
    people: People,
) -> None:
    allow(kinds=["COMPACTION"])
    skipped = block(20, BlockState.NOWHERE)
    ill = look(done(9), done(30), slices=(logs("f", 9),), blocks=(skipped,))
    row = looked("rides", ill)
    hudi_decide("main", now=NOW)
    assert not OptimizeTask.objects.filter(kind__startswith="HUDI_RECOVERY").exists()
    client = Client()
    client.force_login(people.admin)
    page = client.get(f"/optimizer/hudi/{row.pk}/").content.decode()
    assert "Two people approve which of them come back" in page
    assert "List lost rows" in page
    wish: dict[str, Any] = {
        "service": Service.RECOVERY, "step": Step.SCHEDULE, "reason": "missed"
    }  # fmt: skip
    made = service_ask(row.pk, user=people.admin, now=NOW, **wish)
    assert (made.kind, made.requested_by) == ("HUDI_RECOVERY_SCHEDULE", "ada")
    with pytest.raises(StaleState, match="no block"):
        service_ask(looked("well", look(done(9))).pk, user=people.admin, now=NOW, **wish)

    run = run_of()
    assert claim(HUDI, run, now=NOW) == 1
    results_ingest(HUDI, run, said(made, "NOTHING", found=LOST), now=NOW)
    found = RemovalPlan.objects.get(hudi=row)
    assert (found.n_items, found.n_files, found.n_bytes) == (5, 2, 2048)
    with pytest.raises((NotAllowed, StaleState)):
        approve(found, people.admin)
    approve(found, people.second, people.third)
    again = run_of("hudi_remove", now=cool(found))
    assert lists_claim(HUDI, again, now=cool(found)) == 1
    (order,) = orders(HudiRemoveKind(), again)
    assert (order["service"], order["step"]) == ("RECOVERY", "EXECUTE")
    assert order["digest"] == LOST["digest"]
    did = [{"instant": name(40), "action": "deltacommit", "n_items": 5}]
    results_ingest(HUDI, again, said(found.task, "DONE", done=did), now=cool(found))
    found.refresh_from_db()
    assert (found.state, found.removed["n_items"]) == ("DONE", 5)
    shown = client.get(f"/optimizer/removals/{found.pk}/").content.decode()
    assert "<dt>Restored</dt>" in shown
    assert ">Removed<" not in shown
    rows = client.get("/optimizer/removals/").content.decode().partition("<tbody")[2]
    assert "Restored" in rows
    assert ">Removed<" not in rows
