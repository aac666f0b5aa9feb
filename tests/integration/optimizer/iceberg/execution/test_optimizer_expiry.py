"""Old snapshots of real tables: exactly those go that were approved and still may go."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files
from tests.support.removals import Removals, on_disk, refs_of


def ids(table: WrittenTable) -> list[int]:
    return [row["snapshot_id"] for row in table.snapshots()]


def test_only_what_was_approved_goes_and_the_rest_can_be_read(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 4)
    tagged, forked = ids(table)[0], ids(table)[2]
    refs_of(table).createTag("year end", tagged).createBranch("audit", forked).commit()
    table.say("INSERT INTO {t}.branch_audit VALUES (77, '2026-05-01', 'aside')")
    (packed,) = lake.optimize(lake.task(table))
    assert packed["outcome"] == "DONE"
    table.say("DELETE FROM {t} WHERE dt = '2026-05-02'")
    work = Removals(lake, table)
    before, rows = on_disk(table), table.rows()
    aside = table.rows(branch="audit")
    then = table.rows(snapshot_id=tagged)
    main = ids(table)

    drawn = work.draw_up()

    assert drawn["outcome"] == "TO_APPROVE", drawn
    assert on_disk(table) == before
    told = drawn["proposal"]
    # Of seven: the tagged one, the branch's own and the current one stay.
    assert (told["n_items"], told["stays"]) == (4, {"REFERENCED": 2, "CURRENT": 1})
    assert told["n_files"] == sum(told["files"].values())
    assert len(told["sample"]) == 4

    refs_of(table).createTag("late", main[1]).commit()
    table.append([(900, DAYS[0], "after the approval")])
    done = work.act(told)

    assert (done["outcome"], done["removed"]["n_items"]) == ("DONE", 3), done
    assert "1 of the approved snapshots stay" in done["reason"]
    assert (done["before"]["n_snapshots"], done["after"]["n_snapshots"]) == (8, 5)
    left = ids(table)
    assert set(left) >= {tagged, main[1]}
    assert len(left) == 5
    assert len(table.rows()) == len(rows) + 1
    assert table.rows(branch="audit") == aside
    assert table.rows(snapshot_id=tagged) == then
    after = on_disk(table)
    gone = {path: size for path, size in before.items() if path not in after}
    assert len(gone) == done["removed"]["n_files"] > 0
    lists = sum(size for path, size in gone.items() if "/snap-" in path)
    assert sum(gone.values()) - lists == done["removed"]["n_bytes"]
    assert table.unknown_files() == set()
    again = work.act(told)
    assert (again["outcome"], again["removed"]) == ("NOTHING", None)
    assert set(on_disk(table)) - set(after) == set()


def test_what_it_counts_beforehand_is_what_iceberg_then_deletes(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 3)
    table.say("DELETE FROM {t} WHERE id IN (1, 12)")
    table.say("DELETE FROM {t} WHERE id = 22")
    table.say("INSERT OVERWRITE {t} VALUES (1, '2026-05-01', 'new')")
    table.say("INSERT OVERWRITE {t} VALUES (2, '2026-05-02', 'new')")
    work = Removals(lake, table)
    told = work.draw_up()["proposal"]
    done = work.act(told)
    assert done["outcome"] == "DONE", done
    assert {kind: n for kind, n in done["removed"]["files"].items() if n} == {
        kind: n for kind, n in told["files"].items() if n
    }
    assert done["removed"]["n_bytes"] == told["n_bytes"]
    assert told["files"]["delete files"] > 0


def test_a_stop_amid_the_files_leaves_them_to_the_next_list_of_orphans(
    iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 3)
    table.say("INSERT OVERWRITE {t} VALUES (1, '2026-05-01', 'new')")
    table.say("INSERT OVERWRITE {t} VALUES (2, '2026-05-02', 'new')")
    rows, before = table.rows(), on_disk(table)
    work = Removals(lake, table)
    told = work.draw_up()["proposal"]
    monkeypatch.setattr("optimizer.iceberg.maintenance.jobs.expired_files.BATCH", 2)
    # Asked before the table, before the commit, and before each batch of files.
    found = work.act(told, stop_after=4)
    assert (found["outcome"], found["code"]) == ("PARTIAL", "run.cancelled"), found
    assert (found["removed"]["n_items"], found["removed"]["n_files"]) == (len(told["sample"]), 2)
    assert "finds those" in found["reason"]
    assert len(before.keys() - on_disk(table).keys()) == 2 < told["n_files"]
    assert table.rows() == rows


def test_young_snapshots_and_the_newest_stay(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(), 3)
    now = Removals(iceberg_lake, table, now=datetime.now(UTC))
    assert now.draw_up()["outcome"] == "NOTHING"
    assert "too young" in now.draw_up()["reason"]
    assert Removals(iceberg_lake, table, keep=3).draw_up()["outcome"] == "NOTHING"
    told = Removals(iceberg_lake, table).draw_up()["proposal"]
    # The policy keeps more by now: what was approved stays.
    stays = Removals(iceberg_lake, table).act(told, keep_snapshots=3)
    assert (stays["outcome"], "policy keeps more" in stays["reason"]) == ("NOTHING", True)
    assert len(ids(table)) == 3


def test_a_list_that_changed_or_is_of_another_table_is_refused(iceberg_lake: IcebergLake) -> None:
    lake = iceberg_lake
    table, other = small_files(lake.table(), 3), small_files(lake.table(), 3)
    work = Removals(lake, table)
    told = work.draw_up()["proposal"]
    for order in (
        work.act({**told, "digest": "0" * 64}),
        work.act({**told, "uri": told["uri"] + ".gone"}),
        Removals(lake, other).act(told),
    ):
        assert (order["outcome"], order["code"]) == ("FAILED", "removal.changed")
    Path(told["uri"].removeprefix("file://")).write_text("{}\n", encoding="utf-8")
    assert work.act(told)["code"] == "removal.changed"
    assert len(ids(table)) == len(ids(other)) == 3


@pytest.mark.parametrize("what", ["gc", "tag", "branch", "shared"])
def test_on_doubt_nothing_goes(iceberg_lake: IcebergLake, what: str) -> None:
    lake = iceberg_lake
    table = small_files(lake.table(), 3)
    if what == "gc":
        table.say("ALTER TABLE {t} SET TBLPROPERTIES ('gc.enabled' = 'false')")
    elif what == "tag":
        tag = refs_of(table).createTag("short", ids(table)[0])
        tag.setMaxRefAgeMs("short", 24 * 3600 * 1000).commit()
    elif what == "branch":
        refs_of(table).createBranch("b", ids(table)[-1]).commit()
        for _ in range(2):
            table.say("INSERT INTO {t}.branch_b VALUES (7, '2026-05-01', 'x')")
        refs_of(table).setMinSnapshotsToKeep("b", 1).setMaxSnapshotAgeMs("b", 1).commit()
    else:
        inside = f"{table.opened.location}/data/inside"
        lake.spark.sql(
            f"CREATE TABLE lake.{lake.db}.{table.name}_in (id BIGINT) USING iceberg "
            f"LOCATION '{inside}'"
        )
    code = {"gc": "gc", "shared": "shared"}.get(what, "own_retention")
    before = on_disk(table)
    found = Removals(lake, table).draw_up()
    assert (found["outcome"], found["code"]) == ("FAILED", f"removal.{code}"), found
    assert on_disk(table) == before
