"""Snapshots between positions, and what a target's commits say."""

from pipelines.commits.domain.marks import Marked, options, written
from pipelines.commits.domain.positions import Kind, Position, as_text
from pipelines.commits.domain.snapshots import Snapshot, changed

LINE = [Snapshot("3", "overwrite"), Snapshot("2", "replace"), Snapshot("1", "append")]
AT = {n: Position("uuid", str(n)) for n in range(5)}


def test_snapshots_between_positions_are_changes_unless_they_only_replace() -> None:
    assert (changed(LINE, AT[1], AT[3]).kind, changed(LINE, AT[1], AT[3]).n_commits) == (
        Kind.CHANGES,
        1,
    )
    assert changed(LINE[1:], AT[1], AT[2]).kind is Kind.NOTHING
    assert changed(LINE, AT[3], AT[3]).kind is Kind.NOTHING


def test_a_snapshot_that_is_no_ancestor_is_read_in_full() -> None:
    assert "no ancestor" in changed(LINE, AT[4], AT[3]).reason
    assert changed(LINE, Position("other", "1"), AT[3]).kind is Kind.FULL
    assert changed([], AT[1], Position("uuid")).kind is Kind.FULL


def test_the_newest_commit_of_ours_counts_and_those_of_others_since_are_told() -> None:
    positions = {"shop.orders": AT[1], "shop.dim": AT[2]}
    said = options(positions, "me")
    own = Marked("5", "UPSERT", as_text(positions), "me")
    assert said["lakewarden.positions"] == own.positions
    found, foreign = written([Marked("7", "COMPACT"), Marked("6", "DELETE"), own])
    assert found is not None
    assert (found.positions, found.owner, found.instant) == (positions, "me", "5")
    assert foreign == ("6",)
    assert written([Marked("7", "UPSERT")]) == (None, ("7",))
    assert written([]) == (None, ())
