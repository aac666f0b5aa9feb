"""Prove that backups can be restored: copy a sample, restore the copies, compare, clear it all.

They are restored by the program that stands beside every backup, so that it is proven with them.
The backup itself is only read. Copies lie below the backup root in the restore test's own place,
and are registered in a scratch database of the restore test's own name (docs/decisions/0015).
"""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from typing import Any

from py4j.protocol import Py4JJavaError
from pymetastore.hive_metastore import ttypes
from pyspark.sql import SparkSession

from lifecycle.backup.domain.control import Control
from lifecycle.backup.domain.layout import SCRIPT, intent_name
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.files.backup_root import check_marker
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    has_purge_begun,
    items_left,
    read_known_batch,
)
from lifecycle.backup.engine.journal.records import BatchIntent, FileFact, ItemIntent, files_of
from lifecycle.backup.engine.metastore.tags import tagged, tagged_table
from lifecycle.backup.engine.protocol import STOPPED
from lifecycle.backup.jobs import restore_backup
from lifecycle.backup.jobs.papers import restore_program
from lifecycle.restore_tests.domain import Compared, choose_items, fact_differences
from lifecycle.restore_tests.jobs.compare import Comparison, Found
from lifecycle.restore_tests.jobs.files import Files, UnreadableError, format_of
from lifecycle.restore_tests.jobs.scratch import Scratch, clear_left_over
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.metastore import Metastore, from_json, to_json
from portal.lake.errors import DataSafetyError, NotVisible, StaleState
from portal.lake.paths import LakePath
from portal.safety.failpoints import Failpoints
from portal.spark.job import JobContext

MOVED = "a restore or purge has this backup just now"


@dataclass(frozen=True, slots=True)
class Copied:
    """Items of a batch whose copies wait to be restored under `table`, below `place`."""

    journal: JournalBatch
    table: str
    place: LakePath
    items: Sequence[tuple[ItemIntent, Found]]


def run(spark: SparkSession, job: JobContext) -> dict[str, Any]:
    """Test the restore of the drawn batches; returns the findings and what was cleared."""
    roots = _roots(job)
    with Metastore.connect(job.config) as metastore:
        scratch = Scratch(job.config, metastore, job.run, job.epoch)
        under_way = job.params["under_way"]
        cleared = clear_left_over(job.config, metastore, roots, under_way=under_way)
        if cleared:
            job.log(f"cleared what earlier restore tests left: {', '.join(cleared)}")
        try:
            found = RestoreTestJob(spark, job, scratch).run()
        finally:
            # Under the emergency stop nothing is removed; the next restore test clears it.
            if not Control.read(job.control(fresh=True)).paused:
                scratch.clear(roots)
        left = scratch.db in metastore.databases()
    return {"items": [one.as_dict() for one in found], "cleared": cleared, "is_clean": not left}


def _roots(job: JobContext) -> list[LakePath]:
    """Return the backup roots that there are, each proven to be this portal's."""
    found = []
    for text in job.params["roots"]:
        root = job.config.path(text)
        fs = open_file_system(root, config=job.config)
        if fs.status(root) is not None:
            check_marker(fs, root, deployment_id=job.config.deployment_id)
            found.append(root)
    return found


class RestoreTestJob:
    """One restore test, batch by batch."""

    def __init__(self, spark: SparkSession, job: JobContext, scratch: Scratch) -> None:
        self.spark, self.job, self.config, self.scratch = spark, job, job.config, scratch
        self.metastore = scratch.metastore
        self.fail = Failpoints.from_environment()
        self.bytes_left = int(job.params["max_bytes"])

    def run(self) -> list[Found]:
        """Restore test every batch; what cannot be drilled is said."""
        found: list[Found] = []
        asked = self.job.params["batches"]
        for number, wanted in enumerate(asked, start=1):
            control = Control.read(self.job.control(fresh=True))
            if control.stop:
                raise StaleState(STOPPED, f"The restore test was stopped ({control.stop}).")
            found += self._batch(wanted, number)
            name = f"{wanted['db']}.{wanted['table']}"
            self.job.progress("drill", number, len(asked), name)
        return found

    def _batch(self, wanted: dict[str, Any], number: int) -> list[Found]:
        """Take some items of one batch through copy, restore and comparison."""
        directory = self.config.path(wanted["path"])
        fs = open_file_system(directory, config=self.config)
        try:
            journal = read_known_batch(fs, directory, wanted["batch"], sha256=wanted["sha256"])
            if has_purge_begun(fs, journal):
                return [_skipped(wanted, MOVED)]
            chosen = self._chosen(items_left(fs, journal), wanted)
            if not chosen:
                return [_skipped(wanted, "nothing of it fits into what a restore test may copy")]
            copied = self._copies(fs, journal, chosen, wanted, number)
        except (NotVisible, StaleState) as error:
            return [_skipped(wanted, f"{MOVED} ({error.message})")]
        except DataSafetyError as error:
            one = Found(wanted["id"])
            one.differ(error.message)
            return [one]
        intent = self._intent(copied)
        with self.fail.step("restored"):
            self._restore(copied, intent)
        compare = Comparison(self.spark, self.config, self.metastore, intent)
        compare.run(copied.items, fs=open_file_system(copied.place, config=self.config))
        return [one for _, one in copied.items]

    def _chosen(self, items: Sequence[ItemIntent], wanted: dict[str, Any]) -> list[ItemIntent]:
        day = date.fromisoformat(self.job.params["day"])
        names = choose_items(
            {item.item: item.n_bytes for item in items},
            day=day,
            most_items=int(wanted["most"]),
            most_bytes=self.bytes_left,
        )
        chosen = [item for item in items if item.item in set(names)]
        self.bytes_left -= sum(item.n_bytes for item in chosen)
        return chosen

    def _copies(
        self,
        fs: FileSystem,
        journal: JournalBatch,
        chosen: Sequence[ItemIntent],
        wanted: dict[str, Any],
        number: int,
    ) -> Copied:
        """Compare the backup's files with their manifest, read them all, and copy them."""
        place = self.scratch.place(self.config.path(wanted["root"]))
        copied = Copied(journal, f"t{number}", place, [(one, _of(wanted, one)) for one in chosen])
        files = Files(self.spark, place)
        listings = list_here(fs)([journal.directory.child(one.item) for one in chosen])
        for item, found in copied.items:
            home = journal.directory.child(item.item)
            there = files_of(listings.get(home, ()), root=home)
            found.format = format_of(from_json(ttypes.Table, journal.intent.table_metadata))
            found.differ(*fact_differences(_plain(item.files), _plain(there)))
            if not found.differences:
                try:
                    target = self._home(copied).child(item.item)
                    with files.unread(home, item.files) as refused:
                        found.content = files.copy_tree(home, target, item.files)
                except UnreadableError as error:
                    found.differ(f"its files cannot be read: {error}")
                if refused:
                    found.remark(f"when {len(refused)} of its files were last read was moved")
            known = wanted["known"].get(item.item)
            if known and found.content and known != found.content:
                found.differ("its bytes are not those that an earlier restore test read")
        if fs.status(journal.directory) is None:
            raise NotVisible("drill.moved", f"{journal.directory} was taken while it was read.")
        self._note_program(fs, journal, copied)
        return copied

    def _note_program(self, fs: FileSystem, journal: JournalBatch, copied: Copied) -> None:
        """Say whether the program beside the backup is the one that restores here."""
        try:
            beside = fs.read(journal.directory.child(SCRIPT)).decode()
        except NotVisible:
            said = "no program that restores without the portal stands beside this backup"
        else:
            uri = self.config.metastore_uri
            ours = restore_program(backup=journal.directory, metastore=uri)
            said = "" if beside == ours else "the program beside this backup is of another version"
        for _, found in copied.items if said else ():
            found.remark(said)

    def _home(self, copied: Copied) -> LakePath:
        """Where the copy of a batch lies: a backup directory of its own."""
        return copied.place.child("backup", copied.table)

    def _restore(self, copied: Copied, intent: BatchIntent) -> None:
        """Restore the copies as a person would without the portal."""
        if not intent.items:
            return
        fs = open_file_system(copied.place, config=self.config)
        for item in intent.items:
            fs.make_directories(LakePath.parse(item.source).parent, mode=0o700)
        home = self._home(copied)
        fs.write_new(home.child(intent_name(intent.batch)), intent.to_bytes())
        wanted = Namespace(table="", partition=None, dry_run=False)
        try:
            program = restore_backup.Backup(self.spark, str(home), self.config.metastore_uri)
            plain = program.load(intent_name(intent.batch))
            refused = {
                one.item["item"]: one.reason
                for one in program.judge(plain, plain["items"])
                if one.action == restore_backup.REFUSED
            }
            restore_backup.restore(program, wanted)
        except (restore_backup.RefusedError, Py4JJavaError) as error:
            said = str(getattr(error, "java_exception", error)).splitlines()[0]
            refused = {item.item: said for item in intent.items}
        for item, found in copied.items:
            if item.item in refused:
                found.differ(f"the program does not restore it: {refused[item.item]}")

    def _intent(self, copied: Copied) -> BatchIntent:
        """Write the manifest of whole copies for the scratch: other names, places, same things."""
        intent = copied.journal.intent
        home = copied.place.child("data", copied.table)
        rename = (self.scratch.db, copied.table, str(home))

        def moved(item: ItemIntent) -> ItemIntent:
            target = home.child(*item.partition.split("/")) if item.partition else home
            kind = ttypes.Partition if item.partition else ttypes.Table
            struct = from_json(kind, item.metadata)
            placed = tagged(struct, tag="", rename=rename, target=str(target))
            return replace(item, source=str(target), metadata=to_json(placed), parents=())

        table = tagged_table(from_json(ttypes.Table, intent.table_metadata), rename=rename)
        return replace(
            intent,
            run=f"drill-{self.job.run}",
            epoch=self.job.epoch,
            db=self.scratch.db,
            table=copied.table,
            table_metadata=to_json(table),
            items=tuple(moved(item) for item, found in copied.items if not found.differences),
            refused=(),
        )


def _of(wanted: dict[str, Any], item: ItemIntent) -> Found:
    return Found(
        wanted["id"],
        item.item,
        item.partition,
        n_files=item.n_files,
        n_bytes=item.n_bytes,
    )


def _skipped(wanted: dict[str, Any], reason: str) -> Found:
    return Found(wanted["id"], outcome=Compared.SKIPPED, remarks=[reason])


def _plain(facts: Sequence[FileFact]) -> dict[str, dict[str, object]]:
    return {fact.path or ".": {**asdict(fact), "mode": f"{fact.mode:o}"} for fact in facts}
