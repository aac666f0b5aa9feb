"""What every lake must prove about acting on data; run on local files and on HDFS alike."""

import uuid
from collections.abc import Iterator

import pytest

from lifecycle.backup.domain.control import Control, HoldRule
from lifecycle.backup.engine.journal.reading import JournalBatch, batches
from lifecycle.backup.engine.journal.records import FileFact
from lifecycle.backup.engine.purge.probes import Probed
from lifecycle.backup.engine.restore.order import NewName
from portal.lake.errors import StaleState
from portal.lake.names import TableName
from stack.stack import Stack
from tests.support.act_extras import ACCURATE, constrained, dress, extras_of
from tests.support.act_lake import ActLake


def make_lake(stack: Stack) -> Iterator[ActLake]:
    """Yield a fresh database and backup root on a stack."""
    lake = ActLake(stack.config("main"), uuid.uuid4().hex[:8])
    yield lake
    lake.metastore.close()


class ActCases:
    """The cases; a subclass gives `lake`."""

    @pytest.mark.parametrize("external", [False, True], ids=["managed", "external"])
    @pytest.mark.parametrize("file_format", ["text", "parquet"])
    def test_restoring_a_dropped_table_gives_the_same_table(
        self, lake: ActLake, external: bool, file_format: str
    ) -> None:
        name = lake.make_table("whole", external=external, file_format=file_format)
        self._check_round_trip(lake, name, n_items=1)

    @pytest.mark.parametrize("external", [False, True], ids=["managed", "external"])
    @pytest.mark.parametrize("n_keys", [1, 2])
    def test_restoring_dropped_partitions_gives_the_same_partitions(
        self, lake: ActLake, external: bool, n_keys: int
    ) -> None:
        values = [(value, "x y")[:n_keys] for value in lake.odd_values]
        name = lake.make_table("parts", keys=("dt", "h")[:n_keys], values=values, external=external)
        self._check_round_trip(lake, name, n_items=len(values))

    def _check_round_trip(self, lake: ActLake, name: TableName, *, n_items: int) -> None:
        dress(lake, name)
        before, belongs = lake.snapshot(name), extras_of(lake, name)
        assert ACCURATE in str(before)
        above = self._above(lake, name)
        run, result = lake.drop(name)
        assert result.counts == {"DROPPED": n_items}, result.skipped
        table = lake.metastore.table_or_none(name)
        assert (table is None) is not bool(table and table.partitionKeys)
        if table is not None:
            assert lake.metastore.partition_names(name) == []
        for location in [item.source for b in self._batches(lake, run) for item in b.intent.items]:
            assert lake.files(lake.config.path(location)) == ()
        restored = lake.restore(run)
        assert (restored.counts, restored.skipped) == ({"RESTORED": n_items}, [])
        assert extras_of(lake, name) == belongs
        assert self._above(lake, name) == above
        after = lake.snapshot(name)
        assert after.table == before.table
        assert after.items == before.items
        assert after.files == before.files
        assert lake.restore(run).counts == {"SKIPPED": n_items}
        assert lake.snapshot(name).files == before.files

    def _above(self, lake: ActLake, name: TableName) -> dict[str, int]:
        """Return the times of the directories above a table's items, up to the database's."""
        table = lake.metastore.table(name)
        names = lake.metastore.partition_names(name) if table.partitionKeys else []
        found = {}
        for struct in lake.metastore.partitions_by_names(name, names) or [table]:
            path = lake.config.path(struct.sd.location).parent
            while path.is_at_or_under(lake.db_path):
                status = lake.fs.status(path)
                found[str(path)] = status.mtime_ms if status else 0
                path = path.parent
        return found

    def _batches(self, lake: ActLake, run: str) -> list[JournalBatch]:
        return list(batches(lake.fs, lake.day.sealed(run, 1)))

    def test_what_changed_since_approval_is_left_and_reported(self, lake: ActLake) -> None:
        name = lake.make_table("changed", keys=("dt",), values=[("a",), ("b",), ("c",), ("d",)])
        items = lake.items(name)
        home = lake.db_path.child("changed")
        lake.fs.write_new(home.child("dt=a", "late"), b"new")
        lake.metastore.drop_partitions(name, ["dt=b"])
        lake.fs.make_directory(home.child("dt=c", "_temporary"), mode=0o755)
        _, result = lake.drop(name, items=items)
        assert result.counts == {"SKIPPED": 3, "DROPPED": 1}
        reasons = {entry["item"][-1]: entry["reason"] for entry in result.skipped}
        assert "number of files was 5" in reasons["a"] or "number of files was 4" in reasons["a"]
        assert reasons["b"] == "not registered any more"
        assert "a job is writing to it" in reasons["c"]
        assert lake.metastore.partition_names(name) == ["dt=a", "dt=c"]

    def test_a_hold_and_a_stop_are_obeyed_before_each_batch(self, lake: ActLake) -> None:
        name = lake.make_table("held", keys=("dt",), values=[("a",), ("b",)])
        hold = Control(holds=(HoldRule(lake.db, "held", "dt=a", reason="legal"),))
        _, result = lake.drop(name, control=hold)
        assert result.counts == {"SKIPPED": 1, "DROPPED": 1}
        assert result.skipped[0]["reason"] == "held: legal"
        with pytest.raises(StaleState, match="emergency stop"):
            lake.drop(name, control=Control(stop="emergency stop: test", paused=True))
        assert lake.metastore.partition_names(name) == ["dt=a"]

    def test_one_partition_comes_back_and_the_others_stay(self, lake: ActLake) -> None:
        name = lake.make_table("some", keys=("dt",), values=[("a",), ("b",), ("c",)])
        run, _ = lake.drop(name)
        assert lake.restore(run, partitions=frozenset({"dt=b"})).counts == {"RESTORED": 1}
        assert lake.metastore.partition_names(name) == ["dt=b"]
        assert lake.restore(run).counts == {"SKIPPED": 1, "RESTORED": 2}
        assert lake.metastore.partition_names(name) == ["dt=a", "dt=b", "dt=c"]

    def test_newer_data_under_the_name_is_a_conflict_and_another_name_helps(
        self, lake: ActLake
    ) -> None:
        name = lake.make_table("taken")
        before = lake.snapshot(name)
        run, _ = lake.drop(name)
        lake.make_table("taken")
        newer = lake.snapshot(name)
        result = lake.restore(run)
        assert result.counts == {"CONFLICT": 1}
        assert lake.snapshot(name) == newer
        place = NewName(lake.db, "taken_back", lake.db_path.child("taken_back"))
        assert lake.restore(run, new_name=place).counts == {"RESTORED": 1}
        back = lake.snapshot(lake.table_name("taken_back"))
        assert back.files == before.files
        assert back.table["parameters"] == before.table["parameters"]
        assert back.table["sd"]["cols"] == before.table["sd"]["cols"]

    def test_partitions_come_back_with_their_dropped_table_under_another_name(
        self, lake: ActLake
    ) -> None:
        values = [(value,) for value in lake.odd_values]
        name = lake.make_table("old", keys=("dt",), values=values)
        before = lake.snapshot(name)
        run, _ = lake.drop(name)
        lake.metastore.drop_table(name)
        assert lake.restore(run).counts == {"RESTORED": len(values)}
        assert lake.snapshot(name).files == before.files
        again, _ = lake.drop(name)
        place = NewName(lake.db, "fresh", lake.db_path.child("fresh"))
        lake.fs.make_directory(place.location, mode=0o750)
        assert lake.restore(again, new_name=place).counts == {"RESTORED": len(values)}
        fresh = lake.snapshot(lake.table_name("fresh"))
        assert fresh.files == before.files
        assert set(fresh.items) == set(before.items)

    def test_what_belongs_to_a_table_comes_back_with_it_where_its_partitions_do(
        self, lake: ActLake
    ) -> None:
        parent = lake.make_table("up")
        dress(lake, parent)
        name = lake.make_table("down", keys=("dt",), values=[("a",), ("b",)])
        dress(lake, name, parent=parent)
        belongs = extras_of(lake, name)
        assert "points_up" in belongs["constraints"]["foreign"]
        run, _ = lake.drop(name)
        lake.metastore.drop_table(name)
        restored = lake.restore(run)
        assert (restored.counts, restored.skipped) == ({"RESTORED": 2}, [])
        assert extras_of(lake, name) == belongs
        # The key of another table that names this one goes with it, and comes back with it.
        above = constrained(lake, parent)
        assert "points_up" in above["referenced"]
        run, _ = lake.drop(parent)
        assert "points_up" not in constrained(lake, name)["foreign"]
        assert lake.restore(run).counts == {"RESTORED": 1}
        assert constrained(lake, parent) == above

    def test_what_the_metastore_refuses_to_take_back_is_said_with_the_item(
        self, lake: ActLake
    ) -> None:
        parent = lake.make_table("gone")
        dress(lake, parent)
        name = lake.make_table("orphan")
        dress(lake, name, parent=parent)
        run, _ = lake.drop(name)
        lake.metastore.drop_table(parent)
        restored = lake.restore(run)
        assert restored.counts == {"RESTORED": 1}
        (said,) = restored.skipped
        assert "its constraint points_up_" in said["reason"]
        place = NewName(lake.db, "copy", lake.db_path.child("copy"))
        again, _ = lake.drop(name)
        assert lake.restore(again, new_name=place).counts == {"RESTORED": 1}
        copy = extras_of(lake, lake.table_name("copy"))
        assert len(copy["grants"]) == 3
        assert "the_key" in copy["constraints"]["primary"]

    def test_a_late_commit_is_found_and_registered_again(self, lake: ActLake) -> None:
        name = lake.make_table("late", keys=("dt",), values=[("a",), ("b",)])
        before = lake.snapshot(name)
        run, _ = lake.drop(name)
        lake.make_files(lake.db_path.child("late", "dt=a"), n=7)
        (batch,) = list(batches(lake.fs, lake.day.sealed(run, 1)))
        found = {result.partition: result for result in lake.probe(batch)}
        assert found["dt=a"].found is Probed.LATE_COMMIT
        assert found["dt=a"].is_registered
        assert found["dt=b"].found is Probed.CLEAN
        assert lake.metastore.partition_names(name) == ["dt=a"]
        assert not lake.probe(batch)[0].is_registered
        kept = self._backup_files(lake, run, "dt=a")
        assert kept == before.files["dt=a"]

    def _backup_files(self, lake: ActLake, run: str, partition: str) -> tuple[FileFact, ...]:
        for batch in batches(lake.fs, lake.day.sealed(run, 1)):
            for item in batch.intent.items:
                if item.partition == partition:
                    return lake.files(batch.directory.child(item.item))
        raise AssertionError(partition)
