"""Says whether YARN may take containers away from runs that change the lake, and what to do."""

from collections.abc import Iterable

from portal.connectors.lake_config import LakeConfig
from portal.spark.masters.resource_manager import Queue, ResourceManager
from portal.spark.masters.settings import submitted_queue

_SAFE = "takes nothing away from runs that change the lake"


def kinds_by_queue(config: LakeConfig, kinds: Iterable[str]) -> dict[str, list[str]]:
    """Return which kinds of run are submitted to each queue of YARN."""
    found: dict[str, list[str]] = {}
    for kind in sorted(kinds):
        found.setdefault(submitted_queue(config, kind), []).append(kind)
    return found


def preemption(config: LakeConfig, queue: str, kinds: Iterable[str]) -> tuple[str, str]:
    """Return what YARN says of a queue, and what to do; the latter is empty where nothing is."""
    queues = ResourceManager.of(config).queues()
    if queues is None:
        return "this scheduler does not say whether it takes containers away", ""
    named = [one for one in queues if queue in _names(one)]
    if not named:
        return "YARN has no such queue", (
            f"YARN's scheduler has no queue '{queue}'. Name one that it has in spark_queues of "
            "lakes.json, unless YARN itself puts the portal's applications into another one."
        )
    if (one := next((one for one in named if _yields(one)), None)) is None:
        return _SAFE, ""
    setting = "disable_preemption"
    if not one.yields_to_queues:
        setting = f"intra-queue-preemption.{setting}"
    return "takes containers away from runs that change the lake", (
        f"YARN may end drivers in {one.path} during a change ({', '.join(kinds)}), which are then "
        f"settled and tried again. Set yarn.scheduler.capacity.{one.path}.{setting} to true in "
        "capacity-scheduler.xml and refresh the queues (yarn rmadmin -refreshQueues), or name a "
        "queue that is not preempted for these kinds of run in spark_queues of lakes.json."
    )


def _names(queue: Queue) -> tuple[str, str, str]:
    """Return by which names an application may be submitted to a queue."""
    return queue.path, queue.path.removeprefix("root."), queue.path.rpartition(".")[2]


def _yields(queue: Queue) -> bool:
    return queue.yields_to_queues or queue.yields_within
