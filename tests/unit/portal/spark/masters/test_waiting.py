"""Why YARN does not start what it accepted, from the words of Hadoop 3.4.3."""

import pytest

from portal.spark.masters.waiting import reason_of

_NOT_ACTIVE = (
    "[Sun Nov 29 02:40:01 +0000 2026] Application is added to the scheduler and is not yet "
    "activated. {why} Details : AM Partition = <DEFAULT_PARTITION>; AM Resource Request = "
    "<memory:896, vCores:1>; Queue Resource Limit for AM = <memory:512, vCores:1>; "
)


@pytest.mark.parametrize(
    ("diagnostics", "words"),
    [
        (_NOT_ACTIVE.format(why="Queue's AM resource limit exceeded. "), "share for drivers (max"),
        (
            _NOT_ACTIVE.format(why="User's AM resource limit exceeded. "),
            "one user has in the queue",
        ),
        (
            "[x] Application is Activated, waiting for resources to be assigned for AM.  Details",
            "no room for its driver yet",
        ),
        ("[Sun Nov 29] Something new. Details : a", "Something new"),
        ("", "YARN has not said why"),
    ],
)
def test_a_reason_is_said_in_plain_words(diagnostics: str, words: str) -> None:
    assert words in reason_of(diagnostics)
    assert "[" not in reason_of(diagnostics)
