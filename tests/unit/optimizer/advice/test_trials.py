"""Which partitions a trial takes, what its queries say, and when it speaks for a layout."""

import math

import numpy as np
import pytest

from optimizer.advice.domain.drawn import RecordedScans, drawn_by_shape, drawn_queries
from optimizer.advice.domain.filters import Filter, FilterKind
from optimizer.advice.domain.paired import Decision, Replayed
from optimizer.advice.domain.trials.result import ReplayedShape, shape_row, trial_verdict
from optimizer.advice.domain.trials.sample import (
    BY_CHANCE,
    IN_PART,
    LARGEST,
    NEWEST,
    Candidate,
    pick_partitions,
    spread,
)
from optimizer.advice.jobs.trial_replay import java_value
from optimizer.iceberg.tables.domain.branches import is_trial, trial_branch

BY_ID = (Filter("id", FilterKind.EQUAL),)
RUN = "3e7f7f5c-2b51-4a6e-9f0b-5d9d7a2f1c11"


def partitions(*sizes: int) -> list[Candidate]:
    """Return partitions `dt=0`.. of these bytes; each is newer than the one before."""
    return [Candidate(f"dt={n}", size, 4, n) for n, size in enumerate(sizes)]


def test_the_largest_the_newest_and_one_by_chance_are_taken() -> None:
    found = pick_partitions(partitions(5, 90, 6, 7, 8, 9, 10), most_bytes=1000)
    assert [one.reason for one in found] == [LARGEST, NEWEST, BY_CHANCE]
    assert [one.name for one in found[:2]] == ["dt=1", "dt=6"]
    assert found[2].name not in ("dt=1", "dt=6")
    assert {one.share for one in found} == {1.0}


def test_the_same_partitions_are_taken_in_whatever_order_they_come() -> None:
    some = partitions(*range(5, 60))
    assert pick_partitions(some, most_bytes=300) == pick_partitions(some[::-1], most_bytes=300)


def test_together_they_stay_within_the_limit() -> None:
    sizes = {f"dt={n}": size for n, size in enumerate((80, 30, 30, 15))}
    found = pick_partitions(partitions(80, 30, 30, 15), most_bytes=100)
    assert sum(sizes[one.name] for one in found) <= 100
    assert found[0].name == "dt=0"
    assert found[1].name == "dt=3"


def test_one_that_exceeds_the_limit_is_left_out_for_others_that_fit() -> None:
    found = pick_partitions(partitions(5000, 40, 50), most_bytes=100)
    assert {one.name for one in found} == {"dt=1", "dt=2"}


def test_where_none_fits_a_part_of_the_smallest_stands_for_it() -> None:
    (found,) = pick_partitions(partitions(500, 400), most_bytes=100)
    assert (found.name, found.reason, found.share) == ("dt=1", IN_PART, 0.25)
    assert spread(40, share=0.25) == list(range(0, 40, 4))
    assert spread(3, share=0.01) == [0, 1]
    assert spread(1, share=0.5) == [0]
    assert spread(0, share=0.5) == []


def test_an_empty_table_has_no_sample() -> None:
    assert pick_partitions([], most_bytes=100) == []
    assert pick_partitions([Candidate("dt=0", 0, 0, 0)], most_bytes=100) == []


def test_a_branch_is_known_by_its_name_and_no_two_runs_share_one() -> None:
    name = trial_branch(7, RUN)
    assert is_trial(name)
    assert name.startswith("lakewarden_trial_7_")
    assert name != trial_branch(7, "4e7f7f5c-2b51-4a6e-9f0b-5d9d7a2f1c11")
    assert not is_trial("my_lakewarden_trial_7")


def replayed(*pairs: tuple[int, int], weight: float = 1.0) -> ReplayedShape:
    return ReplayedShape(BY_ID, 9, tuple(Replayed(a, b, weight) for a, b in pairs))


def test_a_trial_speaks_for_a_layout_that_surely_saves_a_tenth() -> None:
    said = trial_verdict([replayed(*[(100, 20)] * 12)])
    assert said["decision"] == Decision.KEEP
    assert said["saved"] == pytest.approx(0.8)
    assert said["low"] == pytest.approx(0.8)
    assert said["n_queries"] == 12


def test_a_trial_speaks_against_a_layout_that_surely_saves_less() -> None:
    said = trial_verdict([replayed(*[(100, 96)] * 12), replayed(*[(50, 60)] * 3)])
    assert said["decision"] == Decision.ROLL_BACK
    assert said["n_worse"] == 3


def test_too_few_queries_tell_nothing_and_have_no_lower_end() -> None:
    said = trial_verdict([replayed((100, 1))])
    assert (said["decision"], said["low"]) == (Decision.UNSURE, None)
    assert all(math.isfinite(one) for one in said.values() if isinstance(one, float))


def test_what_comes_often_decides() -> None:
    often = replayed(*[(100, 100)] * 10, weight=50)
    seldom = replayed(*[(100, 1)] * 10)
    assert trial_verdict([often, seldom])["decision"] == Decision.ROLL_BACK


def test_a_row_tells_the_bytes_of_one_scan() -> None:
    row = shape_row(replayed((100, 10), (300, 30), weight=0.5))
    assert (row["before"], row["after"], row["n_queries"], row["n_scans"]) == (200, 20, 2, 9)
    assert row["filters"] == [["id", "="]]
    assert shape_row(ReplayedShape((), 3, ()))["before"] == 0


def test_queries_by_shape_are_those_of_before_and_together_weigh_what_their_scans_do() -> None:
    columns = {"id": ("whole", np.arange(100))}
    scans = [RecordedScans(BY_ID, 30, 0), RecordedScans((), 12, 0)]
    found = drawn_by_shape(columns, scans, drawn=5)
    assert [len(one) for one in found] == [5, 1]
    assert [sum(each.weight for each in one) for one in found] == pytest.approx([30, 12])
    flat = [each for one in drawn_by_shape(columns, scans) for each in one]
    assert flat == drawn_queries(columns, scans)


@pytest.mark.parametrize(
    ("value", "form", "field_type", "expected"),
    [
        (b"w\xc3\xa4", "text", "string", "wä"),
        (7, "whole", "long", 7),
        (1, "whole", "boolean", True),
        (-123, "scaled(2)", "decimal(9, 2)", "-1.23"),
        (5, "scaled(7)", "decimal(9, 7)", "0.0000005"),
        (0.1, "real", "double", 0.1),
        (1.5, "real", "decimal(38, 3)", "1.500"),
        (float("nan"), "real", "double", None),
        (20_000, "days", "date", 20_000),
        (1, "micros", "timestamp", "1970-01-01T00:00:00.000001"),
        (1, "micros", "timestamptz", "1970-01-01T00:00:00.000001+00:00"),
        (1 << 62, "micros", "timestamp", None),
        (None, "whole", "long", None),
    ],
)
def test_values_come_as_iceberg_reads_them(
    value: object, form: str, field_type: str, expected: object
) -> None:
    found = java_value(value, form, field_type)
    assert found == expected
    assert type(found) is type(expected)
