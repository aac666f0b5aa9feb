"""The runs of cubes that people ask for: one estimates a definition, one drops a cube's table."""

from typing import Any

from django.utils import timezone

from optimizer.cubes.services.estimates import KIND
from optimizer.cubes.services.upkeep import DROP_KIND, drop_ingest
from portal.runs.kinds.registry import RunKind, register, write_cancel
from portal.runs.models import Run
from portal.safety.selectors import emergency_stop_wait
from portal.safety.services import tell_stop


class CubeEstimateKind(RunKind):
    """Checks a definition and reads some data files."""

    name = KIND
    title = "Estimate a cube"
    job = "optimizer.cubes.jobs.estimate"
    queue = "plan"
    attempts = 1


class CubeDropKind(RunKind):
    """Takes a cube's own table away.

    It is no acting kind: a table is dropped or is not, and who asks again finds it gone.
    """

    name = DROP_KIND
    title = "Drop a cube"
    job = "optimizer.cubes.jobs.drop"
    attempts = 1
    writes_tables = True
    yields = True

    def waits(self, run: Run, *, now: Any) -> str:
        """Wait while the emergency stop is on."""
        return emergency_stop_wait(run.lake)

    def beat(self, run: Run) -> None:
        """Tell the job to stop where a person or the emergency stop says so."""
        if not tell_stop(run):
            write_cancel(run)

    def ingest(self, run: Run, manifest: dict[str, Any]) -> None:
        """Mark the cube as dropped, or say why it is not."""
        drop_ingest(run, manifest, now=timezone.now())


def register_cube_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(CubeEstimateKind())
    register(CubeDropKind())
