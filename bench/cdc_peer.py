"""Capture alone, against Debezium's engine on the same binary log.

Both begin at the position before the changes, which are there already, and write every row's change
as a JSON object a line: the product its batches, Debezium one file, by the Java program beside
(`bench/java/debezium`), which is resolved and compiled when it is asked for. Debezium's connector
of MySQL reads the MariaDB, for the one of MariaDB was not to be had. What starts is not counted:
seconds are from the first batch to the last, and whole ones stand beside.
"""

import json
import shutil
import subprocess
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bench.cdc_programs import capture_until, last_of, log_at
from bench.cdc_source import CHANGES, Changes, Shop
from stack.errors import StackError
from stack.places import REPO
from stack.process import LOOPBACK

HEAP = "2g"
_JAVA = REPO / "bench" / "java" / "debezium"
_IDLE_SECONDS = 15
_USER = "peer"


class PeerFailed(StackError):
    """Debezium is not to be had, or ended with an error; the text is its own."""


def capture(shop: Shop, folder: Path, n_rows: int, n_changes: int) -> dict[str, Any]:
    """Capture some changes by both; returns what it took, and whether both saw the same."""
    shop.make("sales", n_rows)
    log, config = folder / "log", shop.config(41, "sales")
    capture_until(config, log, shop.position())
    loaded = last_of(log_at(log))
    debezium = Debezium(shop, folder / "debezium")
    try:
        debezium.prepare()
    except PeerFailed as error:
        debezium.problem = str(error)
    changes = Changes(shop, "sales", n_rows)
    for _ in range(n_changes // CHANGES):
        changes.commit()
    started = time.time()
    capture_until(config, log, shop.position())
    heads = [one for one in log_at(log).read(loaded) if one.changes]
    n = sum(len(one.changes) for one in heads)
    # The first batch has been read when it is cut, so its rows are not among the measured.
    begin, end = heads[0].header.at / 1000, heads[-1].header.at / 1000
    found: dict[str, Any] = {
        "changes": n,
        "ours": {
            "seconds": round(end - begin, 2),
            "rows_per_second": round((n - len(heads[0].changes)) / (end - begin)),
            "whole_seconds": round(end - started, 1),
        },
    }
    if debezium.problem:
        return {**found, "debezium": debezium.problem}
    found["debezium"] = debezium.read(n)
    ours = Counter((one.op, *one.key.values()) for head in heads for one in head.changes)
    if ours != debezium.changes():
        raise SystemExit("Debezium has not the same changes.")
    return found


class Debezium:
    """The peer, in a folder of its own."""

    def __init__(self, shop: Shop, folder: Path) -> None:
        self._shop, self._folder = shop, folder
        self._jars, self._out = folder / "jars", folder / "changes.jsonl"
        self.problem = ""

    def prepare(self) -> None:
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
        self._shop.run(
            f"create user {_USER}@'%' identified by '{_USER}'", f"grant all on *.* to {_USER}@'%'"
        )
        lines = [f"{key}={value}" for key, value in self._settings().items()]
        (self._folder / "engine.properties").write_text("\n".join(lines), encoding="utf-8")
        self._engine(0)
        if not (self._folder / "offsets").exists():
            raise PeerFailed("Debezium noted no position.")

    def read(self, n_changes: int) -> dict[str, Any]:
        """Read so many changes from the noted position on."""
        started = time.time()
        count, _, first, last = self._engine(n_changes)
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

    def _engine(self, n_changes: int) -> tuple[int, ...]:
        said = _run(
            *("java", f"-Xmx{HEAP}", "-cp", f"{self._folder}:{self._jars}/*", "BinlogToFile"),
            *(str(self._folder / "engine.properties"), str(self._out)),
            *(str(n_changes), str(_IDLE_SECONDS)),
        )
        return tuple(map(int, said.split()[-4:]))

    def _settings(self) -> dict[str, str]:
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
            "database.port": str(self._shop.port),
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
