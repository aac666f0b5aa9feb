"""Points and priorities as pages show them: whole numbers that add up, and words for scores."""

from math import floor

from hypothesis import given
from hypothesis import strategies as st

from optimizer.core.domain.scoring import Priority, priority_of
from optimizer.hudi.maintenance.domain.tasks import Service, Step
from optimizer.hudi.planner.domain.deciding import precedence, service_priority
from optimizer.iceberg.inspect.domain.health import LoginTally, whole_points
from optimizer.iceberg.inspect.domain.stats import PartitionStats


@st.composite
def deductions(draw: st.DrawFn) -> list[float]:
    """Points as `taken` hands them out: each a share of what the ones before it left."""
    left, points = 100.0, []
    for share in draw(st.lists(st.floats(0, 1), max_size=7)):
        points.append(left * share)
        left -= points[-1]
    return points


@given(deductions())
def test_the_shown_points_and_the_shown_score_add_up_to_a_hundred(points: list[float]) -> None:
    whole = whole_points(points)
    assert sum(whole) == floor(sum(points) + 0.5)
    assert all(abs(shown - exact) < 1 for shown, exact in zip(whole, points, strict=True))


def test_the_score_of_a_table_that_lost_five_parts() -> None:
    points = [70.0, 4.6, 2.6, 4.6, 1.9]  # the score is 16.3
    assert whole_points(points) == [70, 5, 3, 4, 2]
    assert 100 - sum(whole_points(points)) == 16


def test_scores_become_three_words() -> None:
    assert priority_of(3_999_364_955.96) is Priority.HIGH
    assert priority_of(10_000) is Priority.NORMAL
    assert priority_of(5) is priority_of(0) is priority_of(-1) is Priority.LOW


def test_a_rollback_comes_before_a_cleaning() -> None:
    rollback = precedence(Service.ROLLBACK, Step.EXECUTE)
    assert service_priority(rollback) is Priority.HIGH
    assert service_priority(0) is Priority.LOW


def test_a_small_file_alone_in_its_partition_is_not_counted_as_small() -> None:
    target = 512 * 2**20
    tally = LoginTally(target, wants_layout=False)
    for name in ("a", "b", "c"):
        health = tally.add(
            PartitionStats(name, n_files=1, n_bytes=1000, n_small=1, small_bytes=1000)
        )
        assert health.score == 100
    assert tally.n_to_pack == 0
    tally.add(PartitionStats("d", n_files=4, n_bytes=4000, n_small=4, small_bytes=4000))
    assert tally.n_to_pack == 4
