"""What is said of the stages of Spark that run, and what is not said yet."""

from datetime import UTC, datetime

import pytest

from portal.spark.spool import Progress
from portal.spark.watch import Stages, seconds_left, stage_words


def test_time_left_follows_from_the_tasks_that_ended() -> None:
    assert seconds_left(Stages((1,), 40, 100, 0), seconds=60) == 90


@pytest.mark.parametrize(
    ("done", "total", "seconds"),
    [(0, 100, 60), (9, 100, 60), (3, 8, 60), (50, 100, 9.9)],
)
def test_too_few_tasks_or_seconds_say_nothing_of_the_time_left(
    done: int, total: int, seconds: float
) -> None:
    assert seconds_left(Stages((1,), done, total, 0), seconds=seconds) is None


def test_words_have_rows_and_time_as_far_as_they_are_known() -> None:
    assert stage_words(Stages((1,), 0, 9, 0), seconds=1) == ""
    assert stage_words(Stages((1,), 1, 9, 1_200_000), seconds=1) == "1,200,000 rows read"
    words = stage_words(Stages((1,), 50, 100, 1), seconds=60)
    assert words == "1 row read, about 1 minute left in this stage"
    assert (
        stage_words(Stages((1,), 99, 100, 0), seconds=60) == "less than a minute left in this stage"
    )


@pytest.mark.parametrize("message", ["marts.sales, 1 of 2", ""])
def test_what_passes_is_shown_and_leaves_the_message_as_it_is(message: str) -> None:
    step = Progress.make(1, phase="a", done=1, total=2, message=message, at=datetime.now(UTC))
    assert step.shown == message
    passing = Progress(1, "a", 1, 2, message, "", passing="3 rows read")
    assert passing.shown.endswith("· 3 rows read")
    assert Progress.lasting(passing.shown) == message == Progress.lasting(step.shown)
