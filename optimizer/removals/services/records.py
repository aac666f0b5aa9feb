"""Reads what a removing run deleted before it ended without a result.

Done files of the run say what went; of an intent without one, the files or snapshots that it names
are looked at.
"""

import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from optimizer.hudi.maintenance.domain.tasks import Service
from optimizer.iceberg.tables.domain.table_metadata import ReportedMetadata
from optimizer.models import Quarantine, RemovalPlan
from optimizer.removals.domain.papers import SEALED, done_name, read_name
from portal.access.lakes import get_lake
from portal.connectors.filesystem import open_file_system
from portal.connectors.metastore import Metastore
from portal.lake.counts import count_words
from portal.lake.errors import PortalError
from portal.lake.names import TableName
from portal.runs.models import Run
from portal.runs.records.spools import open_spool
from portal.spark.spool import Spool


@dataclass(slots=True)
class Deleted:
    """What one list lost, as the record of its run says."""

    n_files: int = 0
    n_bytes: int = 0
    words: str = ""


def deleted_by(plan: RemovalPlan) -> Deleted:
    """Return what the run of a list deleted; an unreadable record is said in words."""
    aside = Quarantine.objects.filter(plan=plan).first()
    if aside is not None:
        words = f"{_were(aside.n_files, 'file')} moved into quarantine before that."
        return Deleted(aside.n_files, aside.n_bytes, words)
    told = Deleted()
    run = Run.objects.filter(pk=plan.run).first() if plan.run else None
    if run is None or not run.spool:
        return told
    try:
        _read_papers(open_spool(run), plan, told)
    except (PortalError, ValueError, KeyError) as error:
        told.words = f"What went before that could not be read: {error}"
    return told


def _read_papers(spool: Spool, plan: RemovalPlan, told: Deleted) -> None:
    folder = spool.root.child(SEALED)
    names = set(spool.fs.names(folder))
    words: list[str] = []
    for name in sorted(names):
        found = read_name(name)
        if found is None or found[1] != plan.task_id or found[0] != "intent":
            continue
        done = done_name(found[1], found[2])
        if done in names:
            data = json.loads(spool.fs.read(folder.child(done)))
            told.n_files += int(data.get("n_files", 0))
            if "n_snapshots" in data:
                words.append(f"{_were(data['n_snapshots'], 'snapshot')} expired.")
        else:
            words += _unfinished(plan, json.loads(spool.fs.read(folder.child(name))), told)
    if told.n_files:
        words.append(f"{_were(told.n_files, 'file')} deleted before that.")
    told.words = " ".join(words)


def _unfinished(plan: RemovalPlan, intent: dict[str, Any], told: Deleted) -> Iterator[str]:
    """Say what became of a step that was begun and not closed."""
    config = get_lake(plan.subject.lake)
    if "files" in intent:
        paths = [config.path(text) for text in intent["files"]]
        fs = open_file_system(paths[0], config=config, acls=False)
        told.n_files += sum(fs.status(path) is None for path in paths)
    elif "snapshots" in intent:
        ids = set(map(int, intent["snapshots"]))
        left = ids & snapshots_now(plan)
        yield (
            "Its commit did not happen: every snapshot is still there."
            if left
            else f"Its commit happened: {_were(len(ids), 'snapshot')} expired; files that nothing "
            "else reached are left for the next list of orphan files."
        )
    elif intent.get("service") == Service.CLEAN:
        yield (
            "Its clean may be in the timeline, written or begun. It holds only what was "
            "approved here: the table's next list names it by its instant, and it goes on once "
            "people approve that list."
        )
    else:
        yield "One step was begun; whether it was completed is seen at the table's next inspection."


def snapshots_now(plan: RemovalPlan) -> set[int]:
    """Return from the metastore and the metadata file which snapshots the table has now."""
    table, config = plan.subject, get_lake(plan.subject.lake)
    with Metastore.connect(config) as metastore:
        found = metastore.table(TableName(config.lake, table.db, table.table))
    path = config.path(found.parameters["metadata_location"])
    data = open_file_system(path, config=config).read(path)
    text = (gzip.decompress(data) if ".gz." in path.name else data).decode()
    return {one.snapshot_id for one in ReportedMetadata.read(text).snapshots}


def _were(n: int, one: str) -> str:
    return f"{count_words(n, one)} {'was' if n == 1 else 'were'}"
