"""While files are rewritten others write, drop and replace the table: they win, nothing is lost."""

from collections.abc import Callable

import pytest

from optimizer.iceberg.access.jobs.errors import CONFLICT, GONE, REPLACED
from optimizer.iceberg.access.jobs.history import Signature
from optimizer.iceberg.execution.jobs import optimize
from optimizer.iceberg.rewrite.jobs.bin_packing import Group
from optimizer.iceberg.rewrite.jobs.conflict_check import ConflictChecker
from optimizer.iceberg.rewrite.jobs.planning import plan_files
from optimizer.iceberg.rewrite.jobs.replace import replace
from optimizer.iceberg.rewrite.jobs.rewrite_group import Wanted, stage_group
from optimizer.iceberg.rewrite.jobs.staging import StagingArea
from portal.lake.errors import StaleState
from tests.support.iceberg_lake import DAYS, IcebergLake, WrittenTable, small_files
from tests.support.iceberg_staged import staged_by_hand, staging_places


def overwrite(table: WrittenTable) -> None:
    table.say("INSERT OVERWRITE {t} SELECT id, dt, 'new' FROM {t} WHERE dt = '2026-05-01'")


def merge(table: WrittenTable) -> None:
    table.say(
        "MERGE INTO {t} t USING (SELECT explode(array(2, 900)) AS id) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET word = 'merged' "
        "WHEN NOT MATCHED THEN INSERT (id, dt, word) VALUES (s.id, '2026-05-01', 'fresh')"
    )


def roll_back(table: WrittenTable) -> None:
    first = table.snapshots()[0]["snapshot_id"]
    table.opened.java.manageSnapshots().rollbackTo(first).commit()


def expire(table: WrittenTable) -> None:
    table.append([(800, DAYS[0], "before the upkeep")])
    now = table.opened.snapshot.timestampMillis() + 1  # type: ignore[union-attr]  # just written
    table.opened.java.expireSnapshots().retainLast(1).expireOlderThan(now).commit()


MEANWHILE: dict[str, tuple[Callable[[WrittenTable], None], bool]] = {
    "append": (lambda t: t.append([(700, DAYS[0], "late"), (701, "2026-06-01", None)]), True),
    "new column": (lambda t: t.say("ALTER TABLE {t} ADD COLUMN extra INT"), True),
    "lost column": (lambda t: t.say("ALTER TABLE {t} DROP COLUMN word"), True),
    "delete": (lambda t: t.say("DELETE FROM {t} WHERE id = 2"), False),
    "overwrite": (overwrite, False),
    "merge": (merge, False),
    "roll back": (roll_back, False),
    "expire": (expire, True),
}


@pytest.mark.parametrize(
    ("name", "version"), [*((name, 2) for name in MEANWHILE), ("delete", 3), ("merge", 3)]
)
def test_what_others_write_meanwhile_is_never_lost(
    iceberg_lake: IcebergLake, name: str, version: int
) -> None:
    table = small_files(iceberg_lake.table(version=version, by=""), 2)
    plan, staged, area = staged_by_hand(table)
    happen, goes_on = MEANWHILE[name]
    happen(table)
    rows, last = table.rows(), table.opened.snapshot_id
    meanwhile = ConflictChecker(plan, run="run")
    meanwhile.look()

    if goes_on:
        meanwhile.check(plan.partitions[0], staged[0].group)
        replace(plan, staged, signature=Signature(7, "run"), area=area)
        assert table.summary()["lakewarden.task-id"] == "7"
    else:
        with pytest.raises(StaleState, match=r"touched the same files|rolled back"):
            meanwhile.check(plan.partitions[0], staged[0].group)
        with pytest.raises(StaleState) as caught:
            replace(plan, staged, signature=Signature(7, "run"), area=area)
        assert caught.value.code == CONFLICT
        assert table.opened.snapshot_id == last
    assert table.rows() == rows
    assert table.unknown_files() == set()


def test_another_table_under_the_name_is_left_alone(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    plan, staged, area = staged_by_hand(table)
    table.say("DROP TABLE {t}")
    with pytest.raises(StaleState) as gone:
        replace(plan, staged, signature=Signature(7, "run"), area=area)
    assert gone.value.code == GONE

    plan, staged, area = staged_by_hand(small_files(iceberg_lake.table(by=""), 2))
    name = plan.table.table
    iceberg_lake.spark.sql(f"DROP TABLE lake.{iceberg_lake.db}.{name}")
    other = small_files(iceberg_lake.table(by="", name=name), 1)
    with pytest.raises(StaleState) as replaced:
        replace(plan, staged, signature=Signature(7, "run"), area=area)
    assert replaced.value.code == REPLACED
    assert len(other.rows()) == 6
    assert not any("/lakewarden/" in path for path in other.unknown_files())


def test_who_loses_plans_anew_once_and_then_gives_up(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 2)
    once = iceberg_lake.interrupted(iceberg_lake.task(table)).happen(3, lambda: merge(table))
    (result,) = optimize.run(iceberg_lake.spark, once)["results"]
    assert (result["outcome"], result["conflicts"]) == ("DONE", 1), result
    assert [row["word"] for row in table.rows() if row["id"] in (2, 900)] == ["merged", "fresh"]

    small_files(table, 2)
    always = iceberg_lake.interrupted(iceberg_lake.task(table))
    always.happen(3, lambda: table.say("DELETE FROM {t} WHERE id = (SELECT max(id) FROM {t})"))
    always.every = True
    n_rows = len(table.rows())
    (lost,) = optimize.run(iceberg_lake.spark, always)["results"]
    assert (lost["outcome"], lost["code"]) == ("ABANDONED", CONFLICT), lost
    assert lost["conflicts"] == 2
    assert len(table.rows()) < n_rows
    assert table.unknown_files() == set()


def test_what_is_lost_already_is_not_even_written(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 4)
    job = iceberg_lake.interrupted(iceberg_lake.task(table))
    job.happen(2, lambda: table.say("DELETE FROM {t} WHERE id = (SELECT max(id) FROM {t})"))
    job.every = True
    (lost,) = optimize.run(iceberg_lake.spark, job)["results"]
    assert (lost["outcome"], lost["code"], lost["conflicts"]) == ("ABANDONED", CONFLICT, 2), lost
    assert table.name in lost["reason"]
    assert "touched the same files" in lost["reason"]
    assert not staging_places(table)
    assert table.unknown_files() == set()


@pytest.mark.parametrize("version", [2, 3])
def test_a_lost_group_does_not_sink_the_others_of_its_commit(
    iceberg_lake: IcebergLake, version: int
) -> None:
    table = small_files(iceberg_lake.table(version=version, write__delete__granularity="file"), 2)
    job = iceberg_lake.interrupted(iceberg_lake.task(table, kind="MAJOR"))
    job.happen(4, lambda: table.say("DELETE FROM {t} WHERE id = 2"))
    (result,) = optimize.run(iceberg_lake.spark, job)["results"]
    assert (result["outcome"], result["conflicts"]) == ("DONE", 1), result
    first, second = result["commits"]
    assert (first["partition"], second["partition"]) == ("dt=2026-05-02", "dt=2026-05-01")
    assert (len(table.files()), len(table.rows())) == (2, 11)
    assert table.unknown_files() == set()


def test_a_change_of_other_files_of_the_partition_is_no_loss(iceberg_lake: IcebergLake) -> None:
    table = small_files(iceberg_lake.table(by=""), 3)
    plan = plan_files(table.opened)
    (partition,) = plan.partitions
    ours, theirs = Group(tuple(partition.files[:2]), 1), Group(tuple(partition.files[2:]), 1)
    area = StagingArea(plan.table, deployment="here", run="first")
    staged = stage_group(
        plan, partition, ours, wanted=Wanted(1 << 20, partition.spec_id), area=area
    )
    (file,) = theirs.files
    delete = table.opened.java.newDelete()
    delete.deleteFile(partition.tasks.get(file.n).file())
    delete.commit()
    meanwhile = ConflictChecker(plan, run="run")
    meanwhile.look()
    meanwhile.check(partition, ours)
    with pytest.raises(StaleState):
        meanwhile.check(partition, theirs)
    replace(plan, [staged], signature=Signature(7, "run"), area=area)
    assert len(table.rows()) == 12


def test_a_table_dropped_or_replaced_amid_a_job_ends_its_task_alone(
    iceberg_lake: IcebergLake,
) -> None:
    lake = iceberg_lake
    dropped, swapped, whole = (small_files(lake.table(by=""), 2) for _ in range(3))

    def swap() -> None:
        swapped.say("DROP TABLE {t}")
        small_files(lake.table(by="", name=swapped.name), 1)

    tasks = [lake.task(one, n) for n, one in enumerate((dropped, swapped, whole), start=1)]
    job = lake.interrupted(*tasks).happen(3, lambda: dropped.say("DROP TABLE {t}"))
    first = optimize.run(lake.spark, job)["results"]
    assert [one["outcome"] for one in first] == ["ABANDONED", "DONE", "DONE"], first
    assert first[0]["code"] == GONE
    assert dropped.name in first[0]["reason"]

    small_files(swapped, 2)
    left = {path for place in staging_places(swapped) for path in place.rglob("*.parquet")}
    job = lake.interrupted(lake.task(swapped)).happen(3, swap)
    (second,) = optimize.run(lake.spark, job)["results"]
    assert (second["outcome"], second["code"]) == ("ABANDONED", REPLACED), second
    assert swapped.name in second["reason"]
    assert len(swapped.rows()) == 6
    found = {path for place in staging_places(swapped) for path in place.rglob("*")}
    assert {path for path in found if path.is_file() and path.name[0] != "."} == left
