"""The health of every table is judged in slices and kept, so that a list begins with the worst."""

from collections.abc import Iterator, Sequence
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from portal.catalog.domain.health import Finding, HealthLevel, worst_of
from portal.catalog.models import HealthRound, Table, TablePart
from portal.catalog.selectors import health_as_of
from portal.catalog.services import health, registry
from portal.catalog.services.health import health_record, health_turn
from tests.component.portal.ui.table_rows import NOW, listed

pytestmark = pytest.mark.django_db
FOUND: dict[str, Finding] = {}


def read(lake: str, tables: Sequence[Table]) -> registry.Findings:
    return {one.pk: {"files": FOUND[one.name]} for one in tables if one.name in FOUND}


@pytest.fixture(autouse=True)
def one_reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_readers", [read])
    FOUND.clear()
    yield
    FOUND.clear()


def levels() -> dict[str, str]:
    return {row.name: row.health for row in Table.objects.all()}


def test_a_table_is_as_healthy_as_its_worst_part() -> None:
    ok, bad = Finding(HealthLevel.OK, "fine"), Finding(HealthLevel.BAD, "broken")
    assert worst_of([ok, bad]) is HealthLevel.BAD
    assert worst_of([ok]) is HealthLevel.OK
    assert worst_of([]) is HealthLevel.UNKNOWN


def test_what_changed_is_written_and_what_did_not_is_left() -> None:
    table = listed("clicks")
    FOUND["clicks"] = Finding(HealthLevel.WARN, "Score 60 of 100")
    assert health_record("main", [table], now=NOW) == 1
    assert health_record("main", [table], now=NOW + timedelta(hours=1)) == 0
    FOUND["clicks"] = Finding(HealthLevel.WARN, "Score 59 of 100")
    assert health_record("main", [table], now=NOW + timedelta(hours=2)) == 1
    part = TablePart.objects.get()
    # The sentence is new, the level is not.
    assert (part.sentence, part.level, part.since) == ("Score 59 of 100", HealthLevel.WARN, NOW)
    assert levels() == {"clicks": "WARN"}
    del FOUND["clicks"]
    assert health_record("main", [table], now=NOW) == 1
    assert not TablePart.objects.exists()
    assert levels() == {"clicks": "UNKNOWN"}


def test_turns_go_over_all_tables_and_tell_how_old_the_oldest_judgement_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "BATCH", 2)
    monkeypatch.setattr(health, "BATCHES_A_TURN", 2)
    for number in range(5):
        listed(f"t{number}")
        FOUND[f"t{number}"] = Finding(HealthLevel.BAD, "broken")
    listed("gone", deleted_at=NOW)
    assert health_as_of("main") is None
    assert health_turn("main", now=NOW) == 4
    assert health_as_of("main") is None  # one table was not judged yet
    assert health_turn("main", now=NOW + timedelta(minutes=1)) == 1
    assert health_as_of("main") == NOW
    assert levels() == {**{f"t{n}": "BAD" for n in range(5)}, "gone": "UNKNOWN"}
    assert health_turn("main", now=NOW + timedelta(minutes=2)) == 4
    assert health_as_of("main") == NOW
    assert health_turn("main", now=NOW + timedelta(minutes=3)) == 1
    assert health_as_of("main") == NOW + timedelta(minutes=2)
    assert HealthRound.objects.count() == 1


def test_an_empty_lake_is_judged_at_once() -> None:
    assert health_turn("main", now=NOW) == 0
    assert health_as_of("main") == NOW


def test_a_batch_costs_as_many_queries_as_one_table() -> None:
    def n_queries(tables: list[Table]) -> int:
        with CaptureQueriesContext(connection) as counted:
            health_record("main", tables, now=NOW)
        return len(counted)

    tables = [listed(f"t{number}") for number in range(50)]
    FOUND.update({f"t{n}": Finding(HealthLevel.BAD, "broken") for n in range(50)})
    assert n_queries(tables[1:]) <= n_queries(tables[:1])
