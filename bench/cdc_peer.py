"""Capture alone, against Debezium's engine on the same binary log.

Both begin at the position before the changes, which are there already, and write every row's change
as a JSON object a line: the product its batches, Debezium one file, by the Java program beside
(`bench/java/debezium`), which is resolved and compiled when it is asked for. Its connector of MySQL
reads the MariaDB, for that of MariaDB is not to be had; it asks a server of a version from 8.2 on
in words that MariaDB lacks, so for it the server says that it is an older one. Seconds are from
the first batch to the last; whole ones, with what starts, stand beside.
"""

import json
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.cdc_programs import capture_until, last_of, log_at
from bench.cdc_source import CHANGES, Changes, Shop, running
from stack.errors import StackError
from stack.places import REPO
from stack.process import LOOPBACK

HEAP = "2g"
_JAVA = REPO / "bench" / "java" / "debezium"
_IDLE_SECONDS = 10
_ELDER = "5.7.19-log"
_USER = "peer"


class PeerFailed(StackError):
    """Debezium is not to be had, or ended with an error; the text is its own."""


def captured(work: Path, n_rows: int, n_changes: int) -> dict[str, Any]:
    """Capture some changes by both; returns what it took, once both saw the same."""
    log = work / "log"
    debezium = Debezium(work / "debezium")
    with running(work) as shop:
        shop.make("sales", n_rows)
        capture_until(shop.config(41, "sales"), log, shop.position())
        loaded = last_of(log_at(log))
    problem = ""
    try:
        with running(work, version=_ELDER) as shop:
            debezium.prepare(shop)
    except PeerFailed as error:
        problem = str(error)
    with running(work) as shop:
        changes = Changes(shop, "sales", n_rows)
        for _ in range(n_changes // CHANGES):
            changes.commit()
        started = time.time()
        capture_until(shop.config(41, "sales"), log, shop.position())
    heads = [one for one in log_at(log).read(loaded) if one.changes]
    n = sum(len(one.changes) for one in heads)
    # The first batch has been read when it is cut, so its rows are not among the measured.
    seconds = (heads[-1].header.at - heads[0].header.at) / 1000
    ours = {
        "seconds": round(seconds, 2),
        "rows_per_second": round((n - len(heads[0].changes)) / seconds),
        "whole_seconds": round(heads[-1].header.at / 1000 - started, 1),
    }
    if problem:
        return {"changes": n, "ours": ours, "debezium": problem}
    with running(work, version=_ELDER) as shop:
        theirs = debezium.read(shop, n)
    if debezium.changes() != Counter(
        (one.op, *one.key.values()) for head in heads for one in head.changes
    ):
        raise SystemExit("Debezium has not the same changes.")
    return {"changes": n, "ours": ours, "debezium": theirs}


class Debezium:
    """The peer, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._jars, self._out = folder, folder / "jars", folder / "changes.jsonl"

    def prepare(self, shop: Shop) -> None:
        """Resolve and compile it, and have it note the table's schema and the position.

        Raises:
            PeerFailed: with what Maven, the compiler or the engine said.
        """
        shutil.copytree(_JAVA, self._folder)
        _run(
            *("mvn", "-q", "-B", "-ntp", "-f", str(self._folder / "pom.xml")),
            *("dependency:copy-dependencies", "-DincludeScope=runtime"),
            f"-DoutputDirectory={self._jars}",
        )
        source = self._folder / "BinlogToFile.java"
        _run("javac", "-cp", f"{self._jars}/*", "-d", str(self._folder), str(source))
        shop.run(
            f"create user {_USER}@'%' identified by '{_USER}'", f"grant all on *.* to {_USER}@'%'"
        )
        self._engine(shop, 0)
        if not (self._folder / "offsets").exists():
            raise PeerFailed("Debezium noted no position.")

    def read(self, shop: Shop, n_changes: int) -> dict[str, Any]:
        """Read so many changes from the noted position on."""
        started = time.time()
        count, _, first, last = self._engine(shop, n_changes)
        if count != n_changes:
            raise SystemExit(f"Debezium read {count} of {n_changes} changes.")
        seconds = (last - first) / 1000
        return {
            "seconds": round(seconds, 2),
            "rows_per_second": round(count / seconds),
            "whole_seconds": round(last / 1000 - started, 1),
        }

    def changes(self) -> Counter[tuple[str, ...]]:
        """Return operation and key of what it read."""
        found: Counter[tuple[str, ...]] = Counter()
        with self._out.open(encoding="utf-8") as lines:
            for line in lines:
                one = json.loads(line)
                found[one["op"], str((one["after"] or one["before"])["id"])] += 1
        return found

    def _engine(self, shop: Shop, n_changes: int) -> tuple[int, ...]:
        lines = [f"{key}={value}" for key, value in self._settings(shop).items()]
        (self._folder / "engine.properties").write_text("\n".join(lines), encoding="utf-8")
        said = _run(
            *("java", f"-Xmx{HEAP}", "-cp", f"{self._folder}:{self._jars}/*", "BinlogToFile"),
            *(str(self._folder / "engine.properties"), str(self._out)),
            *(str(n_changes), str(_IDLE_SECONDS)),
        )
        return tuple(map(int, said.split()[-4:]))

    def _settings(self, shop: Shop) -> dict[str, str]:
        files = "io.debezium.storage.file.history.FileSchemaHistory"
        return {
            "name": "peer",
            "connector.class": "io.debezium.connector.mysql.MySqlConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": str(self._folder / "offsets"),
            "offset.flush.interval.ms": "1000",
            "schema.history.internal": files,
            "schema.history.internal.file.filename": str(self._folder / "history"),
            "database.hostname": LOOPBACK,
            "database.port": str(shop.port),
            "database.user": _USER,
            "database.password": _USER,
            "database.server.id": "42",
            "topic.prefix": "peer",
            "database.include.list": "shop",
            "table.include.list": "shop.sales",
            "snapshot.mode": "no_data",
            "snapshot.locking.mode": "none",
            "decimal.handling.mode": "string",
            "tombstones.on.delete": "false",
            "key.converter.schemas.enable": "false",
            "value.converter.schemas.enable": "false",
            # As large as the batches of the product.
            "max.batch.size": "7000",
            "max.queue.size": "28000",
        }


def _run(*argv: str) -> str:
    done = subprocess.run(argv, check=False, capture_output=True, text=True, timeout=3_600)
    if done.returncode:
        raise PeerFailed(f"{argv[0]}: {(done.stdout + done.stderr)[-1500:]}")
    return done.stdout
