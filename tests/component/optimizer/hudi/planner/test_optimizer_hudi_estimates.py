"""What a task of a Hudi table is expected to cost, in the queue and on the page of its services."""

from dataclasses import replace

import pytest
from django.test import Client
from django.utils import timezone

from optimizer.core.domain.tasks import TaskState
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.planner.services.actions import service_ask
from optimizer.hudi.planner.services.planner import hudi_decide
from optimizer.models import OptimizeTask
from tests.component.conftest import People
from tests.component.optimizer.hudi.hudi_task_rows import allow, executed, hudi_task, looked
from tests.unit.optimizer.hudi.hudi_world import NOW, asked, look, name, plan

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("lake")]
MIB = 1024**2
PLANNED = look(asked(10), plans=(replace(plan(10, "a"), base_bytes=600 * MIB - 10),))


def measure(table: str, n_bytes: int, seconds: float) -> None:
    """Keep a compaction that read so much in so many seconds."""
    done = [{**one, "seconds": seconds} for one in executed(name(1))]
    hudi_task(
        looked(table, look()),
        state=TaskState.DONE,
        instants=[name(1)],
        estimate={"bytes_read": n_bytes},
        commits=done,
    )


def test_the_queue_tells_bytes_at_once_and_seconds_after_a_measured_task(people: People) -> None:
    allow()
    row = looked("rides", PLANNED)
    hudi_decide("main", now=NOW)
    made = OptimizeTask.objects.get(hudi=row)
    assert (made.estimate["bytes_read"], made.estimate["seconds"]) == (600 * MIB, 0.0)

    measure("measured", 100 * MIB, 20.0)
    other = looked("trips", PLANNED)
    hudi_decide("main", now=NOW)
    task = OptimizeTask.objects.get(hudi=other)
    assert (task.estimate["bytes_read"], task.estimate["seconds"]) == (600 * MIB, 120.0)
    by_hand = service_ask(
        row.pk, service=Service.COMPACTION, step=Step.EXECUTE, user=None, reason="now", now=NOW
    )
    assert by_hand.estimate == task.estimate

    client = Client()
    client.force_login(people.admin)
    page = client.get("/optimizer/queue/").content.decode()
    assert "600 MiB" in page
    assert "about 2 min" in page


def test_the_page_of_services_tells_it_of_each_plan(people: People) -> None:
    allow()
    now = timezone.now()
    row = looked("rides", replace(PLANNED, inspected_at=now))
    plain = looked("plain", replace(look(asked(10), plans=(plan(10),)), inspected_at=now))
    measure("measured", 100 * MIB, 20.0)
    client = Client()
    client.force_login(people.admin)
    page = client.get(f"/optimizer/hudi/{row.pk}/services/").content.decode()
    assert "about 2 min" in page
    page = client.get(f"/optimizer/hudi/{plain.pk}/services/").content.decode()
    assert "not estimated" in page
    assert "about" not in page.split("Expected")[1]
