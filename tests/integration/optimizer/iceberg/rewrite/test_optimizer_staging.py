"""What a death leaves in a table's folder is swept, and what any snapshot knows never is."""

from datetime import timedelta

import pytest

from optimizer.iceberg.access.jobs.history import Signature
from optimizer.iceberg.rewrite.jobs.replace import replace
from optimizer.iceberg.rewrite.jobs.staging import Stage, StagingArea
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files
from tests.support.iceberg_staged import markers, staged_by_hand, swept

pytestmark = pytest.mark.spark


def test_a_table_at_the_place_of_a_renamed_one_leaves_its_files_alone(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(by=""), 2)
    plan, staged, area = staged_by_hand(table)
    marker = markers(table)[0]
    said = marker.read_bytes()
    replace(plan, staged, signature=Signature(7, "run"), area=area)
    marker.write_bytes(said)  # as after a death right after the commit
    renamed = WrittenTable(lake, f"{table.name}_before")
    lake.spark.sql(f"ALTER TABLE {table.sql} RENAME TO {renamed.sql}")
    other = small_files(lake.table(by="", name=table.name), 1)
    assert other.opened.location == renamed.opened.location

    assert swept(other) == 0
    assert len(renamed.rows()) == 12
    assert markers(renamed) == [marker]
    assert swept(renamed) == 0
    assert markers(renamed) == []
    assert (len(renamed.rows()), len(other.rows())) == (12, 6)


def test_files_are_found_again_after_the_table_writes_to_another_place(
    iceberg_lake: IcebergLake,
) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    staged_by_hand(table)
    assert len(table.unknown_files()) == 2
    table.say(
        "ALTER TABLE {t} SET TBLPROPERTIES ('write.data.path' = '{place}')",
        place=f"{table.opened.location}/elsewhere",
    )
    assert swept(table) == 1
    assert table.unknown_files() == set()


def test_a_sign_whose_marker_is_gone_is_taken_away(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    _, (staged,), area = staged_by_hand(table)
    (marker,) = markers(table)
    area.discard(staged.stage)
    marker.with_name(f"{marker.name}.dead").write_bytes(b"")
    assert swept(table) == 0
    assert table.unknown_files() == set()


def test_a_marker_cut_short_or_forged_makes_nothing_else_go(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    rows = table.rows()
    for said in (b"", f"x\n{table.opened.data_location}\n".encode()):
        staged_by_hand(table)
        (marker,) = markers(table)
        marker.write_bytes(said)
        assert swept(table) == 1
        assert table.unknown_files() == set()
    assert table.rows() == rows


def test_a_run_frozen_between_its_look_and_its_commit_loses_nothing(
    iceberg_lake: IcebergLake,
) -> None:
    none, week = timedelta(0), timedelta(days=7)
    table = small_files(iceberg_lake.table(by=""), 2)
    rows = table.rows()
    later = StagingArea(table.opened, deployment="here", run="later")
    for certain, is_killed in ((timedelta(days=3), False), (none, False), (none, True)):
        plan, staged, area = staged_by_hand(table)
        for one in staged:
            area.check(one.stage)
        # It is called dead, and by the second look its files are moved aside.
        for _ in range(3):
            assert later.sweep(silent=none, certain=certain, kept=week) == 0
        written = [path for path in table.unknown_files() if path.endswith(".parquet")]
        assert ["/_buried/" in path for path in written] == [certain == none] * len(staged)
        found = _Asleep(area, is_killed=is_killed)
        replace(plan, staged, signature=Signature(7, "run"), area=found)
        if is_killed:
            assert later.sweep(silent=none, certain=none, kept=week) == 0
        assert markers(table) == []
        assert table.rows() == rows
        assert table.unknown_files() == set()
        table.append([(90, DAYS[0], "one more")])
        rows = table.rows()


class _Asleep(StagingArea):
    """The staging area of a run that made its last look before it froze."""

    def __init__(self, area: StagingArea, *, is_killed: bool) -> None:
        self.__dict__.update(area.__dict__)
        self._is_killed = is_killed

    def check(self, stage: Stage) -> None:
        """Answer as at the last look."""

    def keep(self, stage: Stage) -> None:
        """Tidy up, unless it was killed right after the commit."""
        if not self._is_killed:
            super().keep(stage)
