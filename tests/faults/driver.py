"""A plain acting process: the same protocol code as the Spark driver, without a JVM to start.

`python -m tests.faults.driver <spec.json>`; the failpoint comes by environment. `fence: false` is
the control of the experiment: it acts as if fences had never been invented.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.facts import ActItem
from lifecycle.backup.engine.move.items import MoveOrder, move_items
from lifecycle.backup.engine.move.records import MoveItem
from lifecycle.backup.engine.protocol import ActResult, DropOrder, Tools
from lifecycle.backup.engine.purge.batches import PurgeOrder, PurgeResult, purge_batches
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import BackupBatchRef, NewName, RestoreOrder
from lifecycle.backup.engine.undo.batches import UndoOrder, undo_batches
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import PortalError
from portal.lake.paths import LakePath
from portal.safety.fence import Fence
from tests.support.act_jobs import purge_claims
from tests.support.act_lake import ActLake, TestRules
from tests.support.moves import move_rules


class NoFence(Fence):
    """What acting would be without a fence: nothing is checked, missing parents are made."""

    def check(self) -> None:
        """Look at nothing."""

    def move(self, source: LakePath, target: LakePath, *, sync: bool = True) -> None:
        """Move as a plain rename with made parents does."""
        self.fs.make_directories(target.parent, mode=0o700)
        self.fs.rename(source, target, sync=sync)


def wall_clock() -> datetime:
    """Return the instant."""
    return datetime.now(UTC)


def _back(spec: dict[str, Any], config: LakeConfig, tools: Tools) -> ActResult:
    """Restore from a claimed backup, under another name if asked, or undo a restore."""
    claimed = config.path(spec["claimed"])
    refs = tuple(BackupBatchRef(claimed, number) for number in spec["batches"])
    if spec["kind"] == "undo":
        undo = UndoOrder(spec["run"], 1, config.lake, spec["restore"], refs)
        return undo_batches(undo, tools_of=lambda _directory: tools)
    to = spec.get("to")
    name = NewName(to["db"], to["table"], config.path(to["location"])) if to else None
    order = RestoreOrder(spec["run"], 1, config.lake, refs, new_name=name)
    return restore_batches(order, tools_of=lambda _directory: tools)


def main(argv: list[str]) -> int:
    """Act as the spec says; 0 = done, 3 = stopped by an expected error, which is printed."""
    spec = json.loads(Path(argv[1]).read_text())
    config = LakeConfig.from_dict(spec["config"])
    lake = ActLake(config, spec["name"])
    fence = config.path(spec["fence_path"])
    tools = lake.tools(fence)
    if not spec["fence"]:
        tools.fence = NoFence(tools.fs, fence, clock=wall_clock)
    try:
        if spec["kind"] == "drop":
            order = DropOrder(
                run=spec["run"],
                epoch=1,
                lake=config.lake,
                plan="plan",
                digest="digest",
                fence=fence,
                keep_days={},
            )
            items = [ActItem.read(row) for row in spec["items"]]
            result: ActResult = drop_items(order, items, rules=TestRules(config), tools=tools)
        elif spec["kind"] == "move":
            moves = MoveOrder(spec["run"], 1, config.lake, "plan", "digest", fence)
            asked = [MoveItem.read(row) for row in spec["items"]]
            result = move_items(moves, asked, rules=move_rules(lake), tools=tools)
        elif spec["kind"] == "purge":
            result = PurgeResult()
            claims = purge_claims(config, spec["claims"])
            purge = PurgeOrder(spec["run"], claims, lake.occupied)
            purge_batches(purge, tools, result=result)
        else:
            result = _back(spec, config, tools)
    except PortalError as error:
        sys.stdout.write(json.dumps(error.as_dict()))
        return 3
    sys.stdout.write(json.dumps(result.as_dict()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
