"""Finds where a restored item differs from its backup, in metadata, files or rows."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.records import BatchIntent, FileFact, ItemIntent, files_of
from lifecycle.backup.engine.metastore.registry import structs_of
from lifecycle.restore_tests.domain import Compared, fact_differences, shortened, struct_differences
from lifecycle.restore_tests.jobs.files import UnreadableError, count_rows
from portal.connectors.filesystem import FileSystem
from portal.connectors.lake_config import LakeConfig
from portal.connectors.metastore import Metastore, from_json
from portal.lake.names import TableName
from portal.lake.paths import LakePath

MOST_SAID = 50


@dataclass
class Found:
    """What a restore test found out about one item."""

    batch: str
    item: str = ""
    partition: str = ""
    format: str = ""
    outcome: Compared = Compared.PROVEN
    n_files: int = 0
    n_bytes: int = 0
    n_rows: int | None = None
    content: str = ""
    differences: Sequence[str] = ()
    remarks: Sequence[str] = ()

    def differ(self, *texts: str) -> None:
        """Note differences; an item with one is not proven."""
        self.differences = [*self.differences, *texts]
        self.outcome = Compared.DIFFERS if self.differences else self.outcome

    def remark(self, text: str) -> None:
        """Note what is worth a word and no failure."""
        self.remarks = [*self.remarks, text]

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest's form."""
        said = shortened(list(self.differences), most=MOST_SAID)
        return {**asdict(self), "outcome": str(self.outcome), "differences": said}


@dataclass(frozen=True, slots=True)
class Comparison:
    """Compares what came back with the manifest by which it was restored."""

    spark: SparkSession
    config: LakeConfig
    metastore: Metastore
    intent: BatchIntent

    def run(self, items: Sequence[tuple[ItemIntent, Found]], *, fs: FileSystem) -> None:
        """Note what differs of the items that nothing was found wrong with so far."""
        name = TableName(self.config.lake, self.intent.db, self.intent.table)
        whole = [(item, found) for item, found in items if not found.differences]
        table = self.metastore.table_or_none(name)
        live = structs_of(self.metastore, name, table, [item.partition for item, _ in whole])
        expected = {item.item: item for item in self.intent.items}
        for item, found in whole:
            struct = live.get(item.partition)
            if struct is None or table is None:
                found.differ("it is not registered after its restore")
                continue
            self._compare_structs(expected[item.item], struct, table, found)
            place = LakePath.parse(expected[item.item].source)
            _compare_files(fs, place, item, found)
            self._read_rows(struct, found)

    def _compare_structs(self, as_was: ItemIntent, struct: Any, table: Any, found: Found) -> None:
        kind = ttypes.Partition if as_was.partition else ttypes.Table
        was = from_json(kind, as_was.metadata)
        found.differ(*struct_differences(self._plain(was), self._plain(struct)))
        if as_was.partition:
            of_table = from_json(ttypes.Table, self.intent.table_metadata)
            found.differ(*struct_differences(self._plain(of_table), self._plain(table)))

    def _plain(self, struct: Any) -> Any:
        """Return a structure as plain data, its place spelled in one way."""
        plain = json.loads(json.dumps(struct, default=vars))
        plain["sd"]["location"] = str(self.config.path(plain["sd"]["location"]))
        return plain

    def _read_rows(self, struct: Any, found: Found) -> None:
        try:
            found.n_rows = count_rows(self.spark, struct, file_format=found.format)
        except UnreadableError as error:
            found.differ(f"its rows cannot be read: {error}")
            return
        said = (struct.parameters or {}).get("numRows", "")
        if found.n_rows is None:
            found.remark(f"rows of {found.format} are not read by a restore test; every byte was")
        elif said.isdigit() and int(said) != found.n_rows:
            found.remark(f"its statistics say {said} rows, {found.n_rows} were read")


def _compare_files(fs: FileSystem, place: LakePath, item: ItemIntent, found: Found) -> None:
    there = files_of(list_here(fs)([place]).get(place, ()), root=place)
    found.differ(*fact_differences(_shape(item.files), _shape(there)))
    others = {fact.path: fact for fact in there}
    odd = [fact.path or "." for fact in item.files if others.get(fact.path) != fact]
    if odd and not found.differences:
        # A restore renames, so these stay; a copy gets them only where this user may set them.
        found.remark(f"owner, mode, ACL or time of {len(odd)} copied files could not be set")


def _shape(facts: Sequence[FileFact]) -> dict[str, dict[str, object]]:
    return {fact.path or ".": {"is_dir": fact.is_dir, "size": fact.size} for fact in facts}
