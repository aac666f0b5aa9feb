"""What a restore would do: nothing live is ever replaced, nothing is restored twice."""

from itertools import product

import pytest

from lifecycle.domain.restore import BackupItem, LiveState, RestoreChoice, preview, summary

ITEM = BackupItem("sales", "orders", 7, "dt=2026-08-01")
TABLE = BackupItem("sales", "orders", 7, "")
FREE = LiveState(
    table_registered=True, same_table=True, partition_registered=False, location_exists=False
)
GONE = LiveState(
    table_registered=False, same_table=False, partition_registered=False, location_exists=False
)


@pytest.mark.parametrize(
    ("item", "live", "choice"),
    [
        (ITEM, FREE, "RESTORE"),
        (ITEM, GONE, "RESTORE_WITH_TABLE"),
        (TABLE, GONE, "RESTORE"),
        (TABLE, LiveState(False, False, False, True), "LOCATION_TAKEN"),
        (TABLE, LiveState(True, False, False, True), "NAME_TAKEN"),
        (ITEM, LiveState(True, True, True, True), "NAME_TAKEN"),
        (ITEM, LiveState(True, True, False, True), "LOCATION_TAKEN"),
        (ITEM, LiveState(True, False, False, False), "TABLE_REPLACED"),
        (BackupItem("s", "t", 7, "k=1", restored=True), FREE, "ALREADY_RESTORED"),
        (BackupItem("s", "t", 7, "k=1", purged=True), FREE, "PURGED"),
    ],
)
def test_each_meeting_of_backup_and_lake_has_its_decision(
    item: BackupItem, live: LiveState, choice: str
) -> None:
    got = preview(item, live)
    assert got.choice == choice
    assert got.why.endswith(".")


def test_nothing_goes_ahead_over_something_live() -> None:
    for flags in product([False, True], repeat=4):
        live = LiveState(*flags)
        for item in [ITEM, TABLE]:
            got = preview(item, live).choice
            registered = live.partition_registered if item.partition else live.table_registered
            if registered or live.location_exists:
                assert not got.goes_ahead
            assert not (got.goes_ahead and got.is_conflict)


def test_the_summary_counts_the_decisions() -> None:
    assert summary([preview(ITEM, FREE), preview(TABLE, GONE), preview(ITEM, GONE)]) == {
        RestoreChoice.RESTORE: 2,
        RestoreChoice.RESTORE_WITH_TABLE: 1,
    }
