"""What a look at Hudi tables leaves in a run's spool, written without Spark."""

import json
from datetime import datetime
from typing import Any

from optimizer.hudi.inspect.domain.facts import HudiInspection
from optimizer.hudi.inspect.services.inspection import KIND, hudi_inspections_ingest
from optimizer.models import HudiTable
from portal.connectors.lake_config import LakeConfig
from portal.runs.models import Run
from portal.spark.spool import Spool
from tests.component.conftest import LAKE


class LookedHudi:
    """One run of a look at Hudi tables, and what it found."""

    def __init__(
        self, config: LakeConfig, *tables: HudiTable, logs: bool = True, keys: bool = False
    ) -> None:
        asked = [table.pk for table in tables]
        params = {"tables": asked, "logs": asked if logs else [], "keys": asked if keys else []}
        self.run = Run.objects.create(
            lake=LAKE,
            kind=KIND,
            params=params,
            requested_by="schedule",
            queued_at=tables[0].event_at,
        )
        spool = Spool.for_run(config, str(self.run.pk), 1)
        spool.create()
        self.run.spool = str(spool.root)
        self.run.save()
        self._files, self._place = spool.fs, spool.results.child("looks")
        self._files.make_directories(self._place, mode=0o700)
        self.failed: list[dict[str, Any]] = []

    def found(self, table: HudiTable, look: HudiInspection | str) -> "LookedHudi":
        """Say what was found of one table; a text is written as it is."""
        text = look if isinstance(look, str) else json.dumps(look.as_dict())
        self._files.replace(self._place.child(f"{table.pk}.json"), text.encode())
        return self

    def taken_in(self, now: datetime, *, outcome: str = "done") -> list[str]:
        """Take it in; returns the lakes of which it was asked what follows."""
        decided: list[str] = []

        def decide(lake: str, *, now: datetime) -> None:
            decided.append(lake)

        result = {"tables": 1, "failed": self.failed, "requested_at": now.isoformat()}
        manifest = {"outcome": outcome, "error": None, "result": result}
        hudi_inspections_ingest(self.run, manifest, now=now, decide=decide)
        return decided
