"""Tests the resident program: when it inspects a table at the portal's request."""

from typing import cast

import pytest

from optimizer.hudi.continuous.jobs import Resident, Watched
from portal.spark.job import JobContext


def test_the_table_that_waited_longest_is_looked_at_first(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Resident(cast("JobContext", None))
    monkeypatch.setattr(service, "_timeline", lambda row: f"now of {row['table_id']}")
    watch = [{"table_id": key, "due": ""} for key in (1, 2, 3)]
    service._watched = {1: Watched("old", check_at=30.0), 2: Watched("old", check_at=20.0)}
    service._watched[3] = Watched("now of 3", check_at=10.0)
    assert service._first_to_look_at(watch) == watch[1], "3 did not change, 2 was asked before 1"
    watch[0]["due"] = watch[2]["due"] = "12:00"
    service._watched[1].inspected_at, service._watched[3].inspected_at = 9.0, 8.0
    assert service._first_to_look_at(watch) == watch[2]
    watch.append({"table_id": 4, "due": ""})
    assert service._first_to_look_at(watch) == watch[3], "it was never inspected"


def test_a_wish_is_met_once_and_again_only_if_it_stays() -> None:
    table = Watched()
    assert not table.is_wanted("", now=100.0)
    assert table.is_wanted("12:00", now=100.0)
    table.due, table.inspected_at = "12:00", 100.0
    assert not table.is_wanted("12:00", now=130.0)
    assert not table.is_wanted("", now=1000.0)
    assert table.is_wanted("12:05", now=101.0)
    assert table.is_wanted("12:00", now=160.0), "the portal's clock is ahead: it came too early"
