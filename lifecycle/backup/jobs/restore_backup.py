"""Restore this backup without the portal. A plain PySpark program: it needs Spark and nothing else.

It stands beside a backup of dropped Hive tables and partitions. Of the portal it needs nothing: no
service, no database, no package. What it needs lies in the same directory: `intent.<n>.json` names
for every item its files, where it stood and its whole metadata; the data lies in `b<n>-i<n>`.

    spark-submit <this file> --dry-run            say what would be done, change nothing
    spark-submit <this file>                      restore everything of this backup
    spark-submit <this file> --table db.table --partition 'dt=2026-01-01'

Run it as the user that owns the backup directory (or as the file system's superuser, where owners
have to be set again), with LC_ALL=C.UTF-8, and with hive-site.xml and core-site.xml of the cluster
or `--metastore thrift://host:9083`. Where the backup is not at its usual place, give `--backup`.

Data is renamed back, never copied, and registered as it was: parameters with their DDL time, odd
partition values, storage. Grants, column statistics and constraints stay in `intent.<n>.json`: set
them by hand, or let the portal restore. What is newer at an item's place or under its name stays:
the item is refused and named. Run again, it goes on; when all is done it changes nothing. It writes
what it did beside the data for a portal that comes back (`manage.py rebuild_backups`); have that
portal hold the tables, or their days are over once more.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from lifecycle.backup.jobs.restore_files import (
    NO,
    YES,
    Fact,
    HadoopFiles,
    LocalFiles,
    below,
    compare,
    fact_of,
    forget_statistics,
    instant,
    say,
)

# Filled in when this file is put beside a backup.
BACKUP = ""
METASTORE = ""

MARK, BEFORE = "lakewarden.restored_from", "lakewarden.generation"
RESTORE, MOVE, REGISTER = "restore", "move back", "register"
THERE, REFUSED = "is there", "REFUSED"
TO_DO = (RESTORE, MOVE, REGISTER)


class RefusedError(Exception):
    """Nothing was done, and why."""


class Metastore:
    """The Hive Metastore through the client that Spark itself carries."""

    def __init__(self, spark: Any, uri: str) -> None:
        """Connect to `uri`, or to what hive-site.xml names."""
        self.jvm = spark.sparkContext._jvm
        conf = self.jvm.org.apache.hadoop.hive.conf.HiveConf()
        conf.addResource(spark.sparkContext._jsc.hadoopConfiguration())  # spark.hadoop.hive.*
        conf.set("hive.metastore.uris", uri or conf.get("hive.metastore.uris") or "")
        if not conf.get("hive.metastore.uris"):
            raise RefusedError("Give --metastore thrift://host:port: no hive-site.xml names one.")
        self.client = self.jvm.org.apache.hadoop.hive.metastore.HiveMetaStoreClient(conf)
        keep = self.jvm.java.util.HashMap()
        keep.put("DO_NOT_UPDATE_STATS", "true")
        self.as_given = self.jvm.org.apache.hadoop.hive.metastore.api.EnvironmentContext(keep)

    def read(self, kind: str, text: str) -> Any:
        """Read a Table or Partition from the manifest's JSON."""
        struct = getattr(self.jvm.org.apache.hadoop.hive.metastore.api, kind)()
        factory = self.jvm.org.apache.thrift.protocol.TJSONProtocol.Factory()
        reader = self.jvm.org.apache.thrift.TDeserializer(factory)
        reader.deserialize(struct, bytearray(text.encode("utf-8")))
        if struct.getParameters() is None:
            struct.setParameters(self.jvm.java.util.HashMap())
        forget_statistics(struct.getParameters())
        return struct

    def table(self, db: str, table: str) -> Any:
        """Return a table; None where there is none."""
        return self.client.getTable(db, table) if self.client.tableExists(db, table) else None

    def partitions(self, db: str, table: str, names: list[str]) -> dict[tuple[str, ...], Any]:
        """Return the named partitions that there are, by their values."""
        found = self.client.getPartitionsByNames(db, table, self._list(names)) if names else []
        return {tuple(struct.getValues()): struct for struct in found}

    def create(self, table: Any) -> None:
        """Register a table as it is; statistics and DDL time stay as given."""
        self.client.createTable(table, self.as_given)

    def add(self, db: str, table: str, structs: dict[str, Any]) -> None:
        """Register partitions, and give them back what the metastore put in by itself."""
        self.client.add_partitions(self._list(list(structs.values())), YES, NO)
        live = self.partitions(db, table, list(structs))
        changed = []
        for struct in structs.values():
            found = live[tuple(struct.getValues())]
            is_ours = found.getParameters().get(MARK) in (None, struct.getParameters().get(MARK))
            if is_ours and not found.getParameters().equals(struct.getParameters()):
                found.setParameters(struct.getParameters())
                changed.append(found)
        if changed:
            self.client.alter_partitions(db, table, self._list(changed), self.as_given)

    def _list(self, values: Iterable[Any]) -> Any:
        found = self.jvm.java.util.ArrayList()
        for value in values:
            found.add(value)
        return found


class Judged(NamedTuple):
    """One item, what is done with it and why; `damage` is what has to be set again."""

    item: dict[str, Any]
    action: str
    reason: str
    damage: list[Fact]


class Backup:
    """One backup directory with the lake that it came from."""

    def __init__(self, spark: Any, directory: str, metastore: str) -> None:
        """Open the file system of the directory, and the metastore."""
        kind = LocalFiles if directory.startswith("file:") else HadoopFiles
        self.files: Any = kind(spark, directory)
        self.directory = self._found(directory.rstrip("/"))
        self.metastore = Metastore(spark, metastore)

    def _found(self, directory: str) -> str:
        """Return where the backup lies: at its place, or where its run was when all ended."""
        for place in (directory, "/open/".join(directory.rsplit("/sealed/", 1))):
            if self.files.stands(place):
                self._check_lease(place)
                return place
        raise RefusedError(
            f"{directory} is not there. A restore or purge of the portal that did not end may have "
            "it: look below 'restoring' and 'purging' of the same day, and give --backup."
        )

    def _check_lease(self, place: str) -> None:
        """Refuse while a run of the portal may act here; a sealed backup has none."""
        is_sealed = place.split("/")[-3:-2] == ["sealed"]
        for fence in () if is_sealed else (place, place.rpartition("/")[0]):
            if self.files.stands(f"{fence}/lease.json"):
                until = json.loads(self.files.read(f"{fence}/lease.json"))["until"][:19]
                if until > time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime()):
                    raise RefusedError(f"A run of the portal works in {fence} until {until}.")

    def batches(self) -> list[int]:
        """Return the numbers of the batches."""
        parts = [name.split(".") for name in self.files.names(self.directory)]
        return sorted(
            int(part[1]) for part in parts if part[0] == "intent" and part[2:] == ["json"]
        )

    def load(self, name: str) -> dict[str, Any]:
        """Read a journal file."""
        return dict(json.loads(self.files.read(f"{self.directory}/{name}")))

    def home(self, item: dict[str, Any]) -> str:
        """Return where an item lies in the backup."""
        return f"{self.directory}/{item['item']}"

    def judge(self, batch: dict[str, Any], items: list[dict[str, Any]]) -> list[Judged]:
        """Say for each item what is to be done with it; changes nothing."""
        table = self.metastore.table(batch["db"], batch["table"])
        names = [item["partition"] for item in items if item["partition"]]
        live: dict[tuple[str, ...], Any] = {}
        if table is not None and table.getPartitionKeys():
            live = self.metastore.partitions(batch["db"], batch["table"], names)
        return [self._judge(batch, item, table, live) for item in items]

    def _judge(
        self, batch: dict[str, Any], item: dict[str, Any], table: Any, live: dict[Any, Any]
    ) -> Judged:
        name = table
        if item["partition"]:
            wanted = self.metastore.read("Partition", item["metadata"])
            name = live.get(tuple(wanted.getValues()))
        found = registered(name, batch, item)
        is_foreign = table is not None and not is_same_table(
            self.metastore.read("Table", batch["table_metadata"]), table
        )
        if item["partition"] and is_foreign and found != "ours":
            return Judged(item, REFUSED, "another table was made under this name since", [])
        has_backup = self.files.stands(self.home(item))
        place = self.home(item) if has_backup else item["source"]
        stands = self.files.stands(place)
        short, damage, is_exact = compare(item, self.files.walk(place) if stands else ())
        action, words = decide(
            has_backup=has_backup,
            has_live=not self.files.is_free(item["source"]),
            is_whole=is_exact if not has_backup else not short,
            registered=found,
        )
        return Judged(item, action, f"{words} ({short[0]})" if short and stands else words, damage)

    def act(self, batch: dict[str, Any], judged: list[Judged], stem: str) -> None:
        """Do what was judged, between an intent and a done; a begun step is gone on with."""
        if not self.files.stands(f"{self.directory}/{stem}.intent.json"):
            self._write(f"{stem}.intent.json", step_intent(batch, judged, stem))
        for one in judged:
            if one.action in (RESTORE, MOVE):
                for row in one.item["parents"]:
                    fact = fact_of(row)
                    if not self.files.stands(fact.path):
                        self.files.make_directory(fact.path, fact)
                self.files.move(self.home(one.item), one.item["source"])
            if one.action in TO_DO:
                for fact in sorted(one.damage, key=lambda fact: fact.path, reverse=True):
                    self.files.mend(below(one.item["source"], fact.path), fact)
        self._register(batch, [one.item for one in judged if one.action in (RESTORE, REGISTER)])
        self._write(f"{stem}.done.json", step_done(batch, judged, stem))

    def _register(self, batch: dict[str, Any], items: list[dict[str, Any]]) -> None:
        if not items:
            return
        if not items[0]["partition"]:
            table = self.metastore.read("Table", items[0]["metadata"])
            table.getParameters().put(MARK, mark(batch, items[0]))
            table.getParameters().put(BEFORE, str(table.getCreateTime()))
            self.metastore.create(table)
            return
        if self.metastore.table(batch["db"], batch["table"]) is None:
            table = self.metastore.read("Table", batch["table_metadata"])
            table.getParameters().put(BEFORE, str(table.getCreateTime()))
            self.metastore.create(table)
        structs = {}
        for item in items:
            struct = self.metastore.read("Partition", item["metadata"])
            struct.getParameters().put(MARK, mark(batch, item))
            structs[item["partition"]] = struct
        self.metastore.add(batch["db"], batch["table"], structs)

    def _write(self, name: str, plain: dict[str, Any]) -> None:
        self.files.write_new(f"{self.directory}/{name}", json.dumps(plain, sort_keys=True).encode())


def decide(*, has_backup: bool, has_live: bool, is_whole: bool, registered: str) -> tuple[str, str]:
    """Decide what is done with an item; `registered` is '', 'ours', 'same' or 'other'."""
    if has_backup and has_live:
        return REFUSED, "something is at its place"
    if has_backup and not is_whole:
        return REFUSED, "the backup is not as its manifest says"
    if has_backup and registered == "other":
        return REFUSED, "something newer is registered under its name"
    if has_backup:
        return (MOVE if registered else RESTORE), ""
    if registered in ("ours", "same"):
        return THERE, "restored already" if registered == "ours" else "was never dropped"
    if has_live and is_whole and not registered:
        return REGISTER, ""
    return REFUSED, "it is not in this backup: purged, or restored and changed since"


def registered(struct: Any, batch: dict[str, Any], item: dict[str, Any]) -> str:
    """Say what stands under an item's name: '' nothing, 'ours', the 'same' as then, or 'other'."""
    if struct is None:
        return ""
    parameters = struct.getParameters()
    if parameters is not None and parameters.get(MARK) == mark(batch, item):
        return "ours"
    generation = item["generation"]
    is_same = (
        int(struct.getCreateTime()) == generation["create_time"]
        and (struct.getSd().getLocation() or "") == generation["location"]
    )
    return "same" if is_same else "other"


def is_same_table(original: Any, live: Any) -> bool:
    """Whether the live table is the one of the backup, or one that was rebuilt from it."""
    before = str(original.getCreateTime())
    if str(live.getCreateTime()) == before:
        return True
    known = (original.getParameters() or {}).get(BEFORE) or before
    return (live.getParameters() or {}).get(BEFORE) in (before, known)


def mark(batch: dict[str, Any], item: dict[str, Any]) -> str:
    """Return the mark of one item of this backup."""
    return f"{batch['run']}/{batch['epoch']}/{item['item']}"


def step_intent(batch: dict[str, Any], judged: list[Judged], stem: str) -> dict[str, Any]:
    """Say what is about to be done, in the words of the journal."""
    items = [
        {"item": one.item["item"], "partition": one.item["partition"], "target": one.item["source"]}
        for one in judged
    ]
    names = {"db": batch["db"], "table": batch["table"], "location": ""}
    return {
        **{"version": 1, "restore": stem.split(".")[1], "restore_epoch": 1, **names},
        **{"batch": batch["batch"], "at": instant(), "items": items},
    }


def step_done(batch: dict[str, Any], judged: list[Judged], stem: str) -> dict[str, Any]:
    """Say what was done, in the words of the journal."""
    items = [
        {
            "item": one.item["item"],
            "partition": one.item["partition"],
            "outcome": "CONFLICT" if one.action == REFUSED else "RESTORED",
            "reason": one.reason,
        }
        for one in judged
    ]
    target = {"db": batch["db"], "table": batch["table"], "restore": stem.split(".")[1]}
    return {
        **{"version": 1, "run": batch["run"], "epoch": batch["epoch"], "batch": batch["batch"]},
        **{"at": instant(), "writer": "script", "items": items, "target": target},
    }


def restore(backup: Backup, wanted: argparse.Namespace) -> dict[str, int]:
    """Restore batch after batch; returns how many items were done, are there, are refused."""
    counts: dict[str, int] = {}
    for number in backup.batches():
        batch = backup.load(f"intent.{number}.json")
        name = f"{batch['db']}.{batch['table']}"
        if wanted.table and wanted.table != name:
            continue
        _finish(backup, batch, wanted)
        items = [
            item
            for item in batch["items"]
            if not wanted.partition or item["partition"] in wanted.partition
        ]
        judged = backup.judge(batch, items)
        for one in judged:
            counts[one.action] = counts.get(one.action, 0) + 1
            say(f"{name} {one.item['partition']}: {one.action} {one.reason}".rstrip())
        todo = [one for one in judged if one.action in TO_DO]
        if todo and not wanted.dry_run:
            n_steps = len(_stems(backup, number)) + 1
            backup.act(batch, todo, f"restore.script-{n_steps}.1.{number}")
    return counts


def _finish(backup: Backup, batch: dict[str, Any], wanted: argparse.Namespace) -> None:
    """Go on with a step of this program that was stopped half way."""
    for stem in _stems(backup, batch["batch"]):
        if wanted.dry_run or backup.files.stands(f"{backup.directory}/{stem}.done.json"):
            continue
        begun = {target["item"] for target in backup.load(f"{stem}.intent.json")["items"]}
        items = [item for item in batch["items"] if item["item"] in begun]
        backup.act(batch, backup.judge(batch, items), stem)


def _stems(backup: Backup, number: int) -> list[str]:
    """Return the steps that this program began with a batch."""
    end = f".1.{number}.intent.json"
    names = backup.files.names(backup.directory)
    return [
        name[: -len(".intent.json")]
        for name in names
        if name.startswith("restore.script-") and name.endswith(end)
    ]


def main(argv: list[str]) -> int:
    """Restore what the arguments ask for; 0 when nothing was refused."""
    parser = argparse.ArgumentParser(description="Restore this backup without the portal.")
    parser.add_argument("--backup", default=BACKUP, help="the backup's directory")
    parser.add_argument("--metastore", default=METASTORE, help="thrift://host:port")
    parser.add_argument("--table", default="", help="db.table; without it every table")
    parser.add_argument("--partition", action="append", help="k=v/k=v as Hive names it; repeatable")
    parser.add_argument("--dry-run", action="store_true", help="change nothing")
    wanted = parser.parse_args(argv)
    spark = SparkSession.builder.appName("restore-backup").getOrCreate()
    try:
        counts = restore(Backup(spark, wanted.backup, wanted.metastore), wanted)
    except RefusedError as refusal:
        say(f"{REFUSED}: {refusal}")
        return 2
    except Py4JJavaError as error:
        say(f"STOPPED: {error.java_exception}. What is done stays; repair the cause, run again.")
        return 3
    prefix = "would be done: " if wanted.dry_run else "done: "
    say(prefix + (", ".join(f"{n} {what}" for what, n in sorted(counts.items())) or "nothing"))
    return 1 if counts.get(REFUSED) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
