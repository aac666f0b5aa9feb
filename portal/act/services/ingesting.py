"""How does the portal's catalogue learn what acting runs did, from the files beside the data?"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from portal.runs.models import Run


@dataclass(frozen=True)
class IngestReport:
    """What a run did, for mails and pages: one entry a (table, batch), and each skipped item."""

    run_id: UUID
    batches: list[dict[str, Any]] = field(default_factory=list)
    skipped: list[dict[str, Any]] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)


def act_ingest(
    run: Run,
    manifest: Mapping[str, Any] | None,
    *,
    now: datetime,
    also: Callable[[IngestReport], None] | None = None,
) -> IngestReport:
    """Bring a settled run into the catalogue: upsert on (run, table, batch), one event an item.

    `also` runs in the same transaction (the rooms queue their notices there). Called twice it
    changes nothing and gives the same report.
    """
    raise NotImplementedError


def backups_rebuild(lake: str, *, now: datetime) -> dict[str, int]:
    """Rebuild the catalogue of `lake` from the files under its backup roots; gives counts."""
    raise NotImplementedError
