"""A trial of a layout on a real Iceberg table: what it shows, and that it leaves nothing."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from optimizer.advice.jobs import trial
from optimizer.iceberg.access.jobs.history import RUN_KEY
from optimizer.iceberg.indexing.jobs.coverage import live_files
from portal.lake.errors import StaleState
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable
from tests.support.trials import (
    BY_WORD,
    N_FILES,
    ROWS,
    Seen,
    cleaned,
    job_of,
    loaded,
    order_of,
    trial_branches,
    tried,
)

pytestmark = pytest.mark.spark


def interrupted_after(
    table: WrittenTable, n: int, what: Callable[[], object], **changed: Any
) -> Any:
    """Try a layout while something happens: when the job asks the nth time whether to go on."""
    job = job_of(table, order_of(table, **changed)).happen(n, what)
    return trial.run(table.lake.spark, job)


def test_a_layout_that_pays_is_found_to_and_nothing_of_the_trial_stays(
    iceberg_lake: IcebergLake,
) -> None:
    table = loaded(iceberg_lake)
    table.add_branch("mine")
    before = Seen.of(table)
    seen: list[list[str]] = []
    job = job_of(table, order_of(table)).happen(40, lambda: seen.append(trial_branches(table)))
    found = trial.run(iceberg_lake.spark, job)
    assert "problem" not in found, found
    verdict = found["verdict"]
    assert verdict["decision"] == "KEEP"
    assert verdict["low"] > 0.5
    assert verdict["n_queries"] == 24
    (shape,) = found["shapes"]
    assert shape["after"] < 0.5 * shape["before"]
    assert {one["partition"] for one in found["partitions"]} == {f"dt={day}" for day in DAYS}
    for one in found["partitions"]:
        assert (one["n_files"], one["n_rows"]) == (N_FILES, N_FILES * ROWS)
        assert 2 <= one["n_files_after"] <= N_FILES + 1
        assert one["planned_after"] < one["planned"]
    assert found["bytes_written"] > 0
    assert seen == [[found["branch"]]]
    assert found["is_cleaned"], found["cleanup"]
    assert Seen.of(table) == before
    assert cleaned(table, job.run)["said"] == ""
    assert Seen.of(table) == before


def test_an_order_that_does_not_pay_is_not_kept(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    before = Seen.of(table)
    # The rows lie by id already, and every id is asked for.
    found = tried(table, {"filters": [["id", "="]], "n_scans": 50})
    assert found["verdict"]["decision"] == "ROLL_BACK", found
    assert found["verdict"]["n_worse"] > 0
    assert found["partitions"][0]["partition"] == ""
    # Queries that read all whatever the order is; the rows stay as they lie.
    whole = ({"filters": [], "n_scans": 50}, {"filters": [["dt", "="]], "n_scans": 9})
    nothing = tried(table, *whole, layout="sort(id)")
    assert nothing["verdict"]["decision"] == "ROLL_BACK", nothing
    assert Seen.of(table) == before


def test_along_a_curve_with_deletes_and_many_types(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    table.say(
        "ALTER TABLE {t} ADD COLUMNS (Day date, at timestamp, price decimal(9,2),"
        " big decimal(30,3), part double, flag boolean, number int)"
    )
    table.say(
        "INSERT OVERWRITE {t} SELECT id, dt, word,"
        " date_add(date'2026-01-01', cast(h % 300 AS int)), timestamp_micros(h % 90000000000),"
        " cast(h % 700 AS decimal(9,2)),"
        " cast(h % 900 AS decimal(30,3)), h / 7.0D, h % 2 = 0, cast(h % 1000 AS int)"
        " FROM (SELECT id, dt, word, abs(xxhash64(id, 3)) % 100000000 h FROM {t})"
    )
    table.say("DELETE FROM {t} WHERE id % 5 = 0")
    before = Seen.of(table)
    names = ("day", "at", "price", "big", "part", "flag", "number", "word")
    shapes = [
        {"filters": [[name, kind]], "n_scans": 10} for name in names for kind in ("=", "range")
    ]
    n_bytes = sum(row["file_size_in_bytes"] for row in table.files())
    found = tried(
        table, *shapes, layout="hilbert(number,word)", target_bytes=n_bytes // 8, most_queries=160
    )
    assert "problem" not in found, found
    rows = {tuple(map(tuple, one["filters"])): one for one in found["shapes"]}
    assert len(rows) == len(shapes)
    assert rows[("number", "="),]["after"] < rows[("number", "="),]["before"]
    assert rows[("Day", "="),]["before"] > 0
    assert found["is_cleaned"], found["cleanup"]
    assert Seen.of(table) == before


def test_commits_and_an_expiry_in_its_middle_do_not_disturb_it(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake)
    said: list[int] = []

    def happens() -> None:
        """Another writer replaces all rows, and expires what was before."""
        table.append([(-1, DAYS[0], "late")])
        table.say("DELETE FROM {t} WHERE dt = '2026-05-02'")
        later = int(datetime.now(UTC).timestamp() * 1000) + 60_000
        table.opened.java.expireSnapshots().expireOlderThan(later).retainLast(1).commit()
        said.append(table.opened.snapshot_id)

    found = interrupted_after(table, 4, happens)
    assert "problem" not in found, found
    assert found["verdict"]["decision"] == "KEEP"
    assert found["is_cleaned"], found["cleanup"]
    assert len(table.rows()) == N_FILES * ROWS + 1
    assert table.opened.snapshot_id == said[0]
    assert trial_branches(table) == []
    assert table.unknown_files() == set() or all(
        "lakewarden" not in path for path in table.unknown_files()
    )


def test_one_that_is_cancelled_cleans_up_wherever_it_is(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    before = Seen.of(table)
    for n in (1, 10, 26, 30, 45):
        job = job_of(table, order_of(table))
        job.happen(n, partial(job.spool.write_control, {"cancel": True, "by": "olga"}))
        with pytest.raises(StaleState) as stopped:
            trial.run(iceberg_lake.spark, job)
        assert stopped.value.code == "run.cancelled"
        assert Seen.of(table) == before, n


def test_under_the_emergency_stop_nothing_is_touched_until_it_ends(
    iceberg_lake: IcebergLake,
) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    before = Seen.of(table)
    job = job_of(table, order_of(table))
    pressed = {"cancel": True, "by": "emergency stop", "reason": "otto started it"}
    job.happen(40, lambda: job.spool.write_control(pressed))
    with pytest.raises(StaleState):
        trial.run(iceberg_lake.spark, job)
    (branch,) = trial_branches(table)
    assert table.rows() == before.rows
    # No index is built of files that are gone soon, and they are part of no orphan list.
    assert {one.data_file.location for one in live_files(table.opened)} == before.files
    assert len(table.rows(branch=branch)) == N_FILES * ROWS
    assert "data files were removed" in cleaned(table, job.run)["said"]
    assert Seen.of(table) == before


def left_behind(table: WrittenTable) -> tuple[str, str]:
    """Leave a trial where it is after its commit; returns its run and its branch."""
    job = job_of(table, order_of(table))
    pressed = {"cancel": True, "by": "emergency stop", "reason": "stop"}
    job.happen(40, lambda: job.spool.write_control(pressed))
    with pytest.raises(StaleState):
        trial.run(table.lake.spark, job)
    (branch,) = trial_branches(table)
    return job.run, branch


def test_what_somebody_else_built_on_a_trial_is_left(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    run, branch = left_behind(table)
    table.say("INSERT INTO {t}.branch_{branch} VALUES (-5, '2026-05-01', 'mine')", branch=branch)
    found = cleaned(table, run)
    assert found["code"] == "trial.branch_changed"
    assert trial_branches(table) == [branch]
    assert len(table.rows(branch=branch)) == N_FILES * ROWS + 1


@pytest.mark.parametrize("how", ["merged", "tagged"])
def test_files_that_another_reference_names_stay(iceberg_lake: IcebergLake, how: str) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    rows = table.rows()
    run, branch = left_behind(table)
    manage = table.opened.java.manageSnapshots()
    if how == "merged":
        manage.fastForwardBranch("main", branch).commit()
    else:
        manage.createTag("keep", table.opened.java.snapshot(branch).snapshotId()).commit()
    found = cleaned(table, run)
    assert "another snapshot names them" in found["said"], found
    assert trial_branches(table) == []
    assert table.rows() == rows
    if how == "merged":
        assert table.summary()[RUN_KEY] == run
    else:
        assert len(table.rows(tag="keep")) == len(rows)
    table.append([(-1, DAYS[0], "later")])
    assert cleaned(table, run)["said"] == found["said"].removeprefix(
        "Another branch or tag holds its snapshot. "
    )
    assert len(table.rows()) == len(rows) + 1


def test_columns_and_a_table_that_are_gone_are_told(iceberg_lake: IcebergLake) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    before = Seen.of(table)
    found = tried(table, layout="sort(gone)")
    assert found["code"] == "layout.missing"
    assert found["is_cleaned"]
    assert Seen.of(table) == before
    empty = iceberg_lake.table(by="")
    assert tried_empty(empty)["problem"] == "The table is empty."
    gone = cleaned(WrittenTable(iceberg_lake, table.name), "no-such-run")
    assert gone["said"] == ""


def tried_empty(table: WrittenTable) -> dict[str, Any]:
    params = {
        **{"trial": 1, "advice": 7, "db": table.lake.db, "table": table.name},
        **{"uuid": table.opened.uuid, "layout": "sort(word)", "shapes": [BY_WORD]},
        **{"target_bytes": 1, "max_group_bytes": 1 << 30, "most_bytes": 1 << 30},
        **{"most_queries": 10, "least_saved": 0.1},
    }
    return trial.run(table.lake.spark, job_of(table, params))


def test_a_table_beyond_the_limit_is_tried_on_a_part_of_its_files(
    iceberg_lake: IcebergLake,
) -> None:
    table = loaded(iceberg_lake, days=DAYS[:1])
    before = Seen.of(table)
    n_bytes = sum(row["file_size_in_bytes"] for row in table.files())
    found = tried(table, most_bytes=7 * n_bytes // 10)
    (one,) = found["partitions"]
    assert (one["n_files"], one["reason"]) == (4, "part of the smallest")
    assert found["shapes"][0]["before"] <= 7 * n_bytes // 10
    assert found["verdict"]["decision"] == "KEEP"
    assert Seen.of(table) == before
