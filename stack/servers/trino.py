"""Trino over the stack's metastore, with a catalog for each format, in one JVM."""

import json
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from stack.ledger import Ledger
from stack.process import LOOPBACK, SHORT_LIVED_JVM
from stack.servers.base import Server
from stack.trino_assets import JAVA, SERVER

CATALOG, HUDI_CATALOG = "lake", "hudi"


class Trino(Server):
    """Trino; `lake` has the metastore's Iceberg tables and `hudi` its Hudi tables.

    Both are on local files or HDFS.
    """

    name = "trino"
    ready_seconds = 300.0

    def __init__(
        self,
        var: Path,
        *,
        ledger: Ledger,
        metastore_uri: str,
        hadoop_conf: Path | None = None,
        events: Mapping[str, str] | None = None,
    ) -> None:
        """Take its places.

        `hadoop_conf` is the folder of HDFS's site files, None for local files; `events` the
        settings of the HTTP event listener, None for none.
        """
        super().__init__(var, ledger=ledger)
        self.metastore_uri = metastore_uri
        self.hadoop_conf = hadoop_conf
        self.events = events

    @property
    def url(self) -> str:
        """The coordinator's address."""
        return f"http://{LOOPBACK}:{self.port}"

    def prepare(self) -> None:
        """Write the configuration."""
        super().prepare()
        etc = self.directory / "etc"
        (etc / "catalog").mkdir(parents=True, exist_ok=True)
        config = {
            "coordinator": "true",
            "node-scheduler.include-coordinator": "true",
            "http-server.http.port": str(self.port),
            "node.internal-address": LOOPBACK,
            "discovery.uri": self.url,
            "query.max-memory": "256MB",
            "query.max-memory-per-node": "256MB",
        }
        files = {
            "hive.metastore.uri": self.metastore_uri,
            "fs.hadoop.enabled": "true",
            # The packaged Java has no incubator modules.
            "parquet.experimental.vectorized-decoding.enabled": "false",
        }
        if self.hadoop_conf is not None:
            sites = [str(self.hadoop_conf / name) for name in ("core-site.xml", "hdfs-site.xml")]
            files["hive.config.resources"] = ",".join(sites)
        if self.events is not None:
            listener = {"event-listener.name": "http", **self.events}
            _write(etc / "http-event-listener.properties", listener)
            config["event-listener.config-files"] = "etc/http-event-listener.properties"
        _write(etc / "config.properties", config)
        iceberg = {"connector.name": "iceberg", "iceberg.catalog.type": "hive_metastore"}
        hudi = {"connector.name": "hudi"}
        for name, catalog in ((CATALOG, iceberg), (HUDI_CATALOG, hudi)):
            _write(etc / "catalog" / f"{name}.properties", {**catalog, **files})

    def command(self) -> Sequence[str]:
        """Return the argv of the server, started without its launcher."""
        settings = {
            "jdk.attach.allowAttachSelf": "true",
            "node.environment": "stack",
            "node.id": "trino-1",
            "node.data-dir": str(self.directory / "data"),
            "config": "etc/config.properties",
            "catalog.config-dir": "etc/catalog",
            "plugin.dir": str(SERVER / "plugin"),
        }
        return [
            *(str(JAVA), "-server", "-Xmx1G", *SHORT_LIVED_JVM, "-XX:+ExitOnOutOfMemoryError"),
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
            *(f"-D{name}={value}" for name, value in settings.items()),
            *("-cp", f"{SERVER / 'lib'}/*", "io.trino.server.TrinoServer"),
        ]

    def is_ready(self) -> bool:
        """Whether the coordinator has started and sees itself as a worker."""
        try:
            url = f"http://{LOOPBACK}:{self.port}/v1/info"
            with urllib.request.urlopen(url, timeout=5) as answer:
                return json.load(answer)["starting"] is False
        except (OSError, ValueError, KeyError):
            return False


def _write(path: Path, values: dict[str, str]) -> None:
    lines = [f"{name}={value}\n" for name, value in values.items()]
    path.write_text("".join(lines), encoding="utf-8")
