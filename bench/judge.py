"""Is what a scan says of a lake true? All of it judged by brute force, with no product code.

A lake of its own is made by plain Thrift and directory calls: odd names, values and times, nested
and shared places, files as locations, young partitions without a directory. Then everything that
the metastore holds is read over Thrift and every directory walked, classes, reasons, due days,
bytes and counts are worked out once more, pair by pair, and compared with what the scan wrote.

    python -m bench.judge --seed 1 [--tables 40]

Only the scan itself is the product's. It prints each difference, then `differences of compared`,
and ends with 1 where there is one. It starts a stack of its own, or uses `--lakes FILE`.
"""

import argparse
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.judge_lake import DAY_MS, NOW, READ, SOON, UNSUPPORTED, Key, Maker, connect
from portal.connectors.lake_config import load_lakes
from stack.stack import Stack
from tests.support import path_oracle
from tests.support.scan_spark import local_session, scan_here


@dataclass(frozen=True)
class Truth:
    """What must be said of one item."""

    cls: str
    due_on: date | None
    n_files: int | None
    n_bytes: int | None


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
        """Give every item with what must be said of it."""
        for (db, name), (table, parts) in self.tables.items():
            if not table.partitionKeys:
                yield (db, name, ""), self._truth(table, table, (db, name, ""))
            for part, struct in parts.items():
                yield (db, name, part), self._truth(table, struct, (db, name, part))

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
        if settled or not is_readable:
            return Truth(settled or "NOT_ENROLLED", None, None, None)
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
        """Give the class of what no clock decides; '' where one does."""
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
    found: list[int | None] = []
    for name in ("level", "ttl"):
        said = [value for key, value in parameters.items() if key.lower() == name]
        if len(said) > 1 or (said and not said[0].strip().isdigit()):
            return None, None, False
        found.append(int(said[0]) if said else None)
    return found[0], found[1], True


def _walk(place: Path) -> dict[Path, os.stat_result]:
    if not place.exists():
        return {}
    found = {place: place.stat()}
    for base, names, files in os.walk(place):
        found |= {Path(base) / name: (Path(base) / name).stat() for name in (*names, *files)}
    return found


def _pairs(row: dict[str, Any], truth: Truth) -> dict[str, Any]:
    """Give what must stand in a row.

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


def compare(judge: Judge, scanned: Any) -> tuple[list[str], int]:
    """Give the differences in words, and how many facts were compared."""
    rows = {(row["db"], row["tbl"], row["part_name"]): row for row in scanned.rows("items")}
    truths = dict(judge.items())
    said = [f"{key}: only one of both knows it" for key in rows.keys() ^ truths.keys()]
    n = 0
    for key in sorted(rows.keys() & truths.keys()):
        row, truth = rows[key], truths[key]
        pairs = _pairs(row, truth)
        n += len(pairs)
        said += [
            f"{key}: {name} is {row[name]!r}, must be {wanted!r}"
            for name, wanted in pairs.items()
            if row[name] != wanted
        ]
    reasons = {
        (row["db"], row["tbl"], row["part_name"], one)
        for row in scanned.rows("findings")
        for one in row["reasons"]
    }
    wanted = {tuple(one) for one in judge.reasons}
    n += len(wanted | reasons)
    said += [f"{one}: reason of one of both only" for one in sorted(reasons ^ wanted)]
    counts = Counter(truth.cls for truth in truths.values())
    found = {name: sums["n"] for name, sums in scanned.result["classes"].items() if sums["n"]}
    n += len(counts)
    if found != dict(counts):
        said.append(f"counts are {found}, must be {dict(counts)}")
    return said, n


def main(argv: list[str]) -> int:
    """Make the lake, scan it, judge it, and say what differs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tables", type=int, default=40)
    parser.add_argument("--lakes", type=Path, default=None)
    wanted = parser.parse_args(argv)
    with ExitStack() as stack, tempfile.TemporaryDirectory(prefix="judge ") as work:
        lakes = wanted.lakes or stack.enter_context(Stack.embedded(Path(work) / "s")).lakes_file
        config = load_lakes(lakes)["main"]
        client, root = connect(config), Path(work) / "lake"
        for name in client.get_all_databases():
            if name != "default":
                client.drop_database(name, deleteData=False, cascade=True)
        Maker(client, root, wanted.seed).make(wanted.tables)
        spark = stack.enter_context(local_session())
        params: dict[str, Any] = {
            "template": f"file://{root}/user/{{owner}}",
            "databases": {},
            "holds": [],
            "previous": None,
        }
        judge = Judge(client, root, config.zone)
        said, n = compare(judge, scan_here(spark, config, params, now=NOW))
    sys.stdout.write("".join(f"{one}\n" for one in said))
    sys.stdout.write(f"{len(said)} differences of {n} compared\n")
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
