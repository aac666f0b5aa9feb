"""Checks all that the product reports of a lake, by brute force and without product code.

A lake of its own is made by plain Thrift and directory calls: odd names, values and times, nested
and shared places, files as locations, young partitions without a directory. Then everything that
the metastore holds is read over Thrift and every directory walked, and classes, reasons, due days,
bytes and counts are worked out once more, pair by pair. Compared with these are the scan's result
files, and what a portal that took the scan in tells an admin, owners, the administrator of some
databases and a person who stands for an account: API, CSV, the numbers of Home and of the lists.

    python -m bench.judge --seeds 1 2 3 [--tables 40]

It prints each difference and `differences of compared` by surface, and ends with 1 where there is
one. It starts a stack of its own, or uses `--lakes FILE`. Lakes of several seeds follow each other
in one portal, so the pictures of earlier ones must not show through.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.judge_lake import DAY_MS, NOW, OWNERS, READ, SOON, UNSUPPORTED, Key, Maker, connect
from bench.judge_portal import ACCOUNT, ADMIN, BEHIND, DBA, LAKE, Portal, Reader
from bench.judge_surfaces import LoginTally, Table, Truth, World, compare_portal
from portal.connectors.lake_config import LakeConfig, load_lakes
from stack.stack import Stack
from tests.support import path_oracle
from tests.support.scan_spark import local_session, scan_here


@dataclass(frozen=True)
class Lake:
    """Where lakes are made, how they are read and what scans them."""

    work: Path
    client: Any
    config: LakeConfig
    spark: Any


class Judge:
    """Reads the whole lake plainly and judges every item."""

    def __init__(self, client: Any, root: Path, zone: Any) -> None:
        self.root, self.zone = root, zone
        self.databases, self.tables = [], {}
        for name in client.get_all_databases():
            self.databases.append(client.get_database(name))
            for table in client.get_all_tables(name):
                struct = client.get_table(name, table)
                names = client.get_partition_names(name, table, -1) if struct.partitionKeys else []
                parts = client.get_partitions_by_names(name, table, names) if names else []
                by_value = {tuple(part.values): part for part in parts}
                named = {one: by_value[tuple(client.partition_name_to_vals(one))] for one in names}
                self.tables[name, table] = (struct, named)
        self.reasons = path_oracle.judge(self._lake())

    def items(self) -> Iterator[tuple[Key, Truth]]:
        """Yield every item with what must be said of it."""
        for (db, name), (table, parts) in self.tables.items():
            if not table.partitionKeys:
                yield (db, name, ""), self._truth(table, table, (db, name, ""))
            for part, struct in parts.items():
                yield (db, name, part), self._truth(table, struct, (db, name, part))

    def world(self, modes: Mapping[str, str]) -> World:
        """Return the lake as people must be told of it."""
        items: defaultdict[tuple[str, str], dict[str, Truth]] = defaultdict(dict)
        for (db, name, part), truth in self.items():
            items[db, name][part] = truth
        owners = {one.name: one.ownerName or "" for one in self.databases}
        tables = []
        for (db, name), (table, _) in self.tables.items():
            level, ttl, _ = _policy(table.parameters)
            broken = sorted(row[3] for row in self.reasons if row[:3] == (db, name, ""))
            of_people = (table.owner, owners[db], level, ttl, tuple(broken))
            tables.append(Table(db, name, *of_people, items[db, name]))
        return World(tuple(tables), owners, modes, frozenset(self.reasons))

    def _lake(self) -> path_oracle.Lake:
        return path_oracle.Lake(
            tuple(
                path_oracle.Database(one.name, one.ownerName or "", one.locationUri)
                for one in self.databases
            ),
            tuple(
                path_oracle.Table(
                    db,
                    name,
                    table.owner,
                    table.sd.location,
                    partitions=tuple((part, one.sd.location) for part, one in parts.items()),
                )
                for (db, name), (table, parts) in self.tables.items()
            ),
            default_fs="file://",
            templates=(("*", f"file://{self.root}/user/{{owner}}"),),
        )

    def _truth(self, table: Any, struct: Any, key: Key) -> Truth:
        level, ttl, is_readable = _policy(table.parameters)
        if not is_readable:
            level = ttl = None
        place = Path(struct.sd.location.removeprefix("file:").replace("//", "/"))
        walked = _walk(place)
        ddl = int(struct.parameters.get("transient_lastDdlTime") or struct.createTime)
        due_by_metastore = ddl * 1000 + 1 + (ttl or 0) * DAY_MS
        newest = max((one.st_mtime_ns // 1_000_000 for one in walked.values()), default=None)
        now_ms = int(NOW.timestamp() * 1000)
        # Too young by the metastore's clock, nothing is asked of the file system.
        is_young = now_ms < due_by_metastore - SOON * DAY_MS
        stands = bool(walked) or is_young
        settled = self._settled(table, struct, key, level=level, ttl=ttl, stands=stands)
        if settled:
            return Truth(settled, None, None, None)
        if is_young:
            return Truth("NOT_NOW", self._day(due_by_metastore), None, None)
        if place.is_file():
            return Truth("UNKNOWN", None, None, None)
        due = max(due_by_metastore, (newest or 0) + 1 + (ttl or 0) * DAY_MS)
        files = [one for path, one in walked.items() if not path.is_dir()]
        counts = len(files), sum(one.st_size for one in files)
        if now_ms < due - SOON * DAY_MS:
            return Truth("NOT_NOW", self._day(due), *counts)
        if now_ms < due:
            return Truth("SOON", self._day(due), *counts)
        read = max((one.st_atime_ns // 1_000_000 for one in files), default=0)
        if read > (newest or 0) and now_ms - read <= READ * DAY_MS:
            return Truth("STILL_READ", self._day(due), *counts)
        return Truth("CLEAN_NOW", self._day(due), *counts)

    def _settled(
        self,
        table: Any,
        struct: Any,
        key: Key,
        *,
        level: int | None,
        ttl: int | None,
        stands: bool,
    ) -> str:
        """Return the class of what no clock decides; '' where one does."""
        places = (key, (*key[:2], ""))
        asked = (
            (
                "UNSUPPORTED",
                any(one.items() <= table.parameters.items() for one in UNSUPPORTED),
            ),
            ("KEEP_FOREVER", level == 0),
            ("NOT_ENROLLED", level is None or ttl is None),
            ("NONCONFORMING", any(row[:3] in places for row in self.reasons)),
            ("MISSING_DIRECTORY", not stands),
            ("UNREADY", struct.parameters.get("commit", "").strip().lower() == "false"),
        )
        return next((cls for cls, holds in asked if holds), "")

    def _day(self, ms: int) -> date:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
        return moment.astimezone(self.zone).date()


def _policy(parameters: dict[str, str]) -> tuple[int | None, int | None, bool]:
    """Return LEVEL and TTL as far as each can be read, and whether both can where they are set."""
    found: list[int | None] = []
    is_readable = True
    for name, least, most in (("level", 0, 1), ("ttl", 1, 36_500)):
        said = [value.strip() for key, value in parameters.items() if key.lower() == name]
        is_good = len(said) == 1 and said[0].isdigit() and least <= int(said[0]) <= most
        found.append(int(said[0]) if is_good else None)
        is_readable = is_readable and (is_good or not said)
    return found[0], found[1], is_readable


def _walk(place: Path) -> dict[Path, os.stat_result]:
    if not place.exists():
        return {}
    found = {place: place.stat()}
    for base, names, files in os.walk(place):
        found |= {Path(base) / name: (Path(base) / name).stat() for name in (*names, *files)}
    return found


def _pairs(row: dict[str, Any], truth: Truth) -> dict[str, Any]:
    """Return what must stand in a row.

    A scan stops looking at an item as soon as one clock says "not now": its due day is the earliest
    then, and nothing of it is measured.
    """
    pairs: dict[str, Any] = {"cls": truth.cls}
    if truth.due_on is None:
        return pairs
    if truth.cls == row["cls"] == "NOT_NOW" and row["n_files"] is None:
        earliest = NOW.date() + timedelta(days=SOON)
        is_right = row["due_on"] is not None and earliest <= row["due_on"] <= truth.due_on
        return pairs if is_right else pairs | {"due_on": truth.due_on}
    return pairs | {"due_on": truth.due_on, "n_files": truth.n_files, "n_bytes": truth.n_bytes}


def compare_files(judge: Judge, scanned: Any, tally: LoginTally) -> None:
    """Compare what stands in the scan's result files."""
    rows = {(row["db"], row["tbl"], row["part_name"]): row for row in scanned.rows("items")}
    truths = dict(judge.items())
    tally.rows("scan", "items", rows, truths)
    for key in sorted(rows.keys() & truths.keys()):
        row = rows[key]
        for name, wanted in _pairs(row, truths[key]).items():
            tally.same("scan", f"{key} {name}", row[name], wanted)
    reasons = [
        (row["db"], row["tbl"], row["part_name"], one)
        for row in scanned.rows("findings")
        for one in row["reasons"]
    ]
    tally.rows("scan", "reasons", reasons, judge.reasons)
    counts = Counter(truth.cls for truth in truths.values())
    found = {name: sums["n"] for name, sums in scanned.result["classes"].items() if sums["n"]}
    for cls in sorted(counts | found):
        tally.same("scan", f"items of {cls}", found.get(cls, 0), counts[cls])


def readers(administered: list[str]) -> list[Reader]:
    """Return everybody who looks: an admin, each owner, an administrator, who stands for others."""
    return [
        Reader(ADMIN, is_keeper=True),
        *(Reader(name) for name in OWNERS),
        Reader(DBA, databases=frozenset(administered)),
        Reader(BEHIND, accounts=frozenset({ACCOUNT})),
    ]


def judge_seed(lake: Lake, portal: Portal, *, seed: int, n_tables: int) -> LoginTally:
    """Make a lake, scan it, have the portal take it in, and compare all that is said of it."""
    client, root = lake.client, lake.work / f"lake {seed}"
    for name in client.get_all_databases():
        if name != "default":
            client.drop_database(name, deleteData=False, cascade=True)
    Maker(client, root, seed).make(n_tables)
    params: dict[str, Any] = {
        "template": f"file://{root}/user/{{owner}}",
        "databases": {},
        "holds": [],
        "previous": None,
    }
    judge, tally = Judge(client, root, lake.config.zone), LoginTally()
    scanned = scan_here(lake.spark, lake.config, params, now=NOW)
    compare_files(judge, scanned, tally)
    _, first, second, third, *_ = sorted(one.name for one in judge.databases)
    modes = {first: "NOTIFY", second: "ACT"}
    administered = [second, third]
    portal.ingest(scanned, now=NOW, modes=modes, administered=administered)
    world = judge.world(modes)
    for reader in readers(administered):
        compare_portal(portal.session(reader.name), reader, world, tally)
    return tally


def main(argv: list[str]) -> int:
    """Judge a lake of each seed, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--lakes", type=Path, default=None)
    wanted = parser.parse_args(argv)
    n_said = 0
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="judge ") as made:
        work = Path(made)
        lakes = wanted.lakes or stack.enter_context(Stack.embedded(work / "s")).lakes_file
        config = load_lakes(lakes)[LAKE]
        portal = Portal(work / "portal", lakes)
        portal.people(OWNERS)
        spark = stack.enter_context(local_session())
        lake = Lake(work, connect(config), config, spark)
        for seed in wanted.seeds:
            tally = judge_seed(lake, portal, seed=seed, n_tables=wanted.tables)
            n_said += report(seed, tally)
    return 1 if n_said else 0


def report(seed: int, tally: LoginTally) -> int:
    """Print each difference, and how many there are of how many by surface."""
    for surface, said in tally.said.items():
        sys.stdout.write("".join(f"{surface}: {one}\n" for one in said))
    for surface, n in sorted(tally.compared.items()):
        sys.stdout.write(f"  {surface}: {len(tally.said[surface])} differences of {n}\n")
    n_said = sum(map(len, tally.said.values()))
    total = tally.compared.total()
    sys.stdout.write(f"seed {seed}: {n_said} differences of {total} compared\n")
    sys.stdout.flush()
    return n_said


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
