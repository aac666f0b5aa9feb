"""What the instants between two positions of a Hudi table mean."""

import pytest

from pipelines.commits.domain.hudi_timeline import (
    Clean,
    Commit,
    Rollback,
    Timeline,
    changed,
    newest,
)
from pipelines.commits.domain.positions import Kind, Position


def commit(n: int, operation: str = "UPSERT", *partitions: str, done: int | None = None) -> Commit:
    return Commit(str(n), "commit", str(n + 1 if done is None else done), operation, partitions)


def at(n: int, table: str = "t") -> Position:
    return Position(table, str(n) if n else "")


PENDING = Commit("15", "deltacommit")
LINE = Timeline((commit(11), commit(13, "INSERT", "a"), commit(15, "UPSERT", "b", "a")))


def test_changes_name_the_partitions_of_the_commits_between() -> None:
    found = changed(LINE, at(11), at(15))
    assert (found.meaning.kind, found.meaning.n_commits) == (Kind.CHANGES, 2)
    assert (found.partitions, found.is_logged, found.began) == (("a", "b"), True, "12")
    assert changed(LINE, at(13), at(15)).partitions == ("a", "b")
    assert changed(LINE, at(11), at(13)).partitions == ("a",)
    assert changed(LINE, at(15), at(15)).meaning.kind is Kind.NOTHING


def test_services_change_no_row_and_replacements_keep_no_images() -> None:
    services = Timeline((commit(11), commit(13, "COMPACT"), commit(15, "CLUSTER")))
    assert changed(services, at(11), at(15)).meaning.kind is Kind.NOTHING
    replaced = Timeline((commit(11), commit(13, "INSERT_OVERWRITE", "a")))
    found = changed(replaced, at(11), at(13))
    assert (found.meaning.kind, found.is_logged) == (Kind.CHANGES, False)


def test_a_commit_that_overtook_another_has_its_images_left_alone() -> None:
    assert not changed(
        Timeline((commit(11, done=20), commit(13, done=15))), at(11), at(13)
    ).is_logged
    later = Timeline((commit(11), commit(13, done=30), commit(15, done=16)))
    assert not changed(later, at(11), at(13)).is_logged


def test_a_position_never_passes_a_commit_that_is_being_written() -> None:
    assert newest(Timeline((commit(11), PENDING, commit(17)))) == "11"
    compaction = Commit("15", "compaction")
    assert newest(Timeline((commit(11), compaction, commit(17)))) == "17"
    assert newest(Timeline()) == ""


@pytest.mark.parametrize(
    ("timeline", "after", "reason"),
    [
        (Timeline((commit(13),)), 11, "not on the active timeline"),
        (Timeline(), 11, "not on the active timeline"),
        (Timeline((commit(10), commit(13))), 11, "rolled back"),
        (Timeline(LINE.commits, rollbacks=(Rollback("16", ("09", "13")),)), 13, "rolled back"),
        (Timeline(LINE.commits, cleans=(Clean("12", "12"),)), 11, "were cleaned"),
        (Timeline(LINE.commits, cleans=(Clean("12"),)), 11, "were cleaned"),
        (LINE, 0, "had no commit"),
    ],
)
def test_what_cannot_be_read_any_more_is_read_in_full(
    timeline: Timeline, after: int, reason: str
) -> None:
    found = changed(timeline, at(after), at(15)).meaning
    assert found.kind is Kind.FULL
    assert reason in found.reason


def test_what_is_still_there_is_read_as_changes() -> None:
    # Rolled back was what nobody had read; cleaned what is older than what was read.
    kept = Timeline(LINE.commits, (Clean("10"), Clean("16", "11")), (Rollback("16", ("14",)),))
    assert changed(kept, at(11), at(15)).meaning.kind is Kind.CHANGES


def test_another_table_under_the_name_is_read_in_full() -> None:
    assert "Another table" in changed(LINE, at(11, "old"), at(15)).meaning.reason
