"""A capture as a process of its own, to be killed: `python -m tests.support.capture_process FILE`.

FILE is JSON of the source's configuration and of where the changelog is: a directory, or in Kafka.
"""

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

import msgspec

from pipelines.cdc.capture.domain.config import Limits, SourceConfig
from pipelines.cdc.capture.domain.repairs import Repair
from pipelines.cdc.capture.services.capture import capture_run
from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.connectors.kafka_log import KafkaLog
from pipelines.cdc.changes.domain.changelog import Changelog
from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath

ROOT = Path(__file__).resolve().parents[2]


class CaptureProcess:
    """A running capture; its output is the code of the error that ended it."""

    def __init__(
        self,
        config: SourceConfig,
        root: Path,
        *,
        failpoint: str = "",
        kafka: KafkaPlace | None = None,
    ) -> None:
        file = root.with_suffix(f".{time.monotonic_ns()}.json")
        place = {"root": str(root), "kafka": msgspec.to_builtins(kafka)}
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({"config": asdict(config), **place}))
        environment = {**os.environ, "LW_FAILPOINTS_ENABLED": "1"}
        if failpoint:
            environment["LW_FAILPOINT"] = failpoint
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.capture_process", str(file)],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def kill(self) -> None:
        """Kill it as a crash would."""
        self._process.kill()
        self._process.communicate()

    def pause(self) -> None:
        """Stop it in the middle of whatever it does."""
        self._process.send_signal(signal.SIGSTOP)

    def wake(self) -> None:
        """Let it go on."""
        self._process.send_signal(signal.SIGCONT)

    def ended(self, seconds: float = 40) -> tuple[int, str]:
        """Wait for its end; returns exit status and output."""
        output, _ = self._process.communicate(timeout=seconds)
        return self._process.returncode, output.strip()


def main() -> int:
    """Capture until killed, or until an error, whose code is printed."""
    told = json.loads(Path(sys.argv[1]).read_text())
    limits = Limits(**told["config"].pop("limits"))
    lists = ("tables", "excluded")
    told["config"] |= {name: tuple(told["config"][name]) for name in lists}
    told["config"]["reloads"] = tuple(map(tuple, told["config"]["reloads"]))
    told["config"]["repairs"] = msgspec.convert(told["config"]["repairs"], tuple[Repair, ...])
    config = SourceConfig(**told["config"], limits=limits)
    try:
        log: Changelog = (
            KafkaLog(msgspec.convert(told["kafka"], KafkaPlace))
            if told["kafka"]
            else DirectoryLog(LocalFileSystem(), LakePath.parse(told["root"]))
        )
        capture_run(config, log, lambda _: None, lambda: False)
    except PortalError as error:
        sys.stdout.write(error.code)
        sys.stderr.write(error.message)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
