"""Opens a changelog, in files or in Kafka, to see how far it is; it writes nothing there."""

import os
from collections.abc import Callable

from pipelines.cdc.changes.connectors.directory_log import DirectoryLog
from pipelines.cdc.changes.connectors.kafka_client import KafkaClient
from pipelines.cdc.changes.connectors.kafka_heads import last_head
from pipelines.cdc.changes.domain.records import Header
from pipelines.cdc.reconciling.domain.messages import Request
from portal.connectors.file_status import FileSystem
from portal.lake.paths import LakePath


def changelog_end(
    request: Request, fs: FileSystem, root: LakePath
) -> Callable[[], tuple[int, Header] | None]:
    """Return what says number and header of the changelog's last batch.

    Raises:
        RuleViolation: `pipeline.password`, that of Kafka is not there.
    """
    if request.kafka is None:
        return DirectoryLog(fs, root).end
    client = KafkaClient(request.kafka, password=request.kafka.password(os.environ))

    def end() -> tuple[int, Header] | None:
        head = last_head(client)
        return None if head is None else (head.number, head.header)

    return end
