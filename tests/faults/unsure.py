"""The cells of the fault grid in which nothing dies: lost answers, and changes while settle waits.

Each runs in this process. "unanswered" is done but never answered, "repeated" is answered by the
client's own second try, "unsent" never reached the server. After "silent" and "silent-unsent" the
file system answers nothing until the run has ended, as while no NameNode is active.
"""

import itertools
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.drop import drop_items
from lifecycle.backup.engine.journal.reading import batches, has_purge_begun
from lifecycle.backup.engine.move.items import move_items
from lifecycle.backup.engine.purge.batches import PurgeBatch, PurgeOrder, PurgeResult, purge_batches
from lifecycle.backup.engine.restore.batches import restore_batches
from lifecycle.backup.engine.restore.order import NewName, RestoreOrder
from lifecycle.backup.engine.undo.batches import UndoOrder, undo_batches
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.paths import LakePath
from portal.safety.fence import move_directory, open_fence
from tests.faults.scene import Broken, Scene
from tests.support.act_lake import LEASE, ActLake, TestRules
from tests.support.act_restores import make_places, restore
from tests.support.lost_answers import (
    falling_silent,
    losing,
    repeated,
    silent_metastore,
    unanswered,
)
from tests.support.moves import move_order, move_rules, moves_of, seal_moves

_SILENT = ("silent", "silent-unsent")
_RENAMES = ("unanswered", "repeated", "unsent", *_SILENT)
_FILE_CALLS = ("unanswered", "unsent", *_SILENT)
_CALLS = ("unanswered", "unsent")
# What of an acting run's effects can lose its answer, by kind of case.
POINTS = {
    "drop-lost": {"rename": _RENAMES, "drop": _CALLS},
    "restore-lost": {"rename": _RENAMES, "register": _CALLS},
    "restore-as-lost": {"rename": _RENAMES, "register": _CALLS},
    "undo-lost": {"rename": _RENAMES, "drop": _CALLS},
    "move-lost": {"rename": _RENAMES, "place": _RENAMES, "alter": _CALLS},
    "purge-lost": {"file": _FILE_CALLS, "directory": _FILE_CALLS, "retire": _RENAMES},
    "settle-lost": {"rename": _RENAMES, "drop": _CALLS},
    "settle-move-lost": {"rename": _RENAMES, "alter": _CALLS},
}
CHANGES = ("analyze", "alter", "ttl", "again")
_BOTH = ("drop-lost", "move-lost")
_METHODS = {
    "drop": ("drop_partitions", "drop_table"),
    "register": ("add_partitions", "create_table"),
    "alter": ("alter_partitions", "alter_table_keeping_times"),
}
_FILES = {"file": "remove_file", "directory": "remove_empty_directory"}


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """What becomes of one call: which effect, and how its answer is lost."""

    effect: str
    how: str

    def lose(self, lake: ActLake) -> list[Any]:
        """Wrap the lake's adapters; returns the wrappers, of which one must be met."""
        sent = not self.how.endswith("unsent")
        if self.effect in _METHODS:
            wrapped = []
            for method in _METHODS[self.effect]:
                lake.metastore = losing(lake.metastore, method, error=silent_metastore(), sent=sent)
                wrapped.append(lake.metastore)
            return wrapped
        method = _FILES.get(self.effect, "rename")
        if self.how in _SILENT:
            lake.fs = falling_silent(lake.fs, method, sent=sent, when=_WHEN[self.effect])
            return [lake.fs]
        error = repeated() if self.how == "repeated" else unanswered()
        lake.fs = losing(lake.fs, method, error=error, sent=sent, when=_WHEN[self.effect])
        return [lake.fs]


def _moves_item(source: LakePath, target: LakePath) -> bool:
    return "-i00" in f"{source}{target}" or target.parent == source.parent


def _leaves_fence(source: LakePath, _target: LakePath) -> bool:
    return "-i00" in str(source)


def _retires(_source: LakePath, target: LakePath) -> bool:
    return target.name.endswith(".purged")


def _is_in_item(path: LakePath) -> bool:
    return "-i00" in str(path)


_WHEN: dict[str, Callable[..., bool]] = {
    "rename": _moves_item,
    "place": _leaves_fence,
    "retire": _retires,
    "file": _is_in_item,
    "directory": _is_in_item,
}


def unsure_points(kind: str) -> list[tuple[str, bool]]:
    """Return the points of a kind of case, each with whether the approval still stands."""
    if kind == "waited":
        return list(itertools.product(CHANGES, (True, False)))
    points = [f"{effect}:{how}" for effect, hows in POINTS[kind].items() for how in hows]
    if kind in ("settle-lost", "settle-move-lost"):
        # Settle goes on only while the approval stands, and gives back only when it does not.
        return [(point, not point.startswith("rename")) for point in points]
    return list(itertools.product(points, (True, False) if kind in _BOTH else (True,)))


def run_outcome_unknown(scene: Scene, kind: str, point: str, *, approved: bool) -> None:
    """Run one case to its end; Broken names the invariant that did not hold."""
    if kind == "waited":
        _waited(scene, point, approved=approved)
        return
    effect, _, how = point.partition(":")
    _RUN[kind](scene, OutcomeUnknown(effect, how), approved)


def _acting(scene: Scene, lost: OutcomeUnknown, act: Callable[[], object]) -> None:
    """Act with adapters that lose an answer; what ends the run is expected."""
    fs, metastore = scene.lake.fs, scene.lake.metastore
    wrapped = lost.lose(scene.lake)
    try:
        with suppress(ExternalFailure, StaleState):
            act()
    finally:
        scene.lake.fs, scene.lake.metastore = fs, metastore
    if not any(one.is_struck for one in wrapped):
        raise AssertionError(f"{lost} was never met")


def _drop_now(scene: Scene) -> None:
    order = scene.lake.order(scene.run)
    items = scene.lake.items(scene.name)
    tools = scene.lake.tools(order.fence)
    drop_items(order, items, rules=TestRules(scene.lake.config), tools=tools)


def _drop(scene: Scene, lost: OutcomeUnknown, approved: bool) -> None:
    _acting(scene, lost, lambda: _drop_now(scene))
    scene.settle(approved=approved)
    scene.check()
    scene.check_restored()


def _restore_now(scene: Scene, to: NewName | None = None) -> None:
    lake = scene.lake
    claimed = lake.day.taken(FenceKind.RESTORE, scene.restore_run, 1).child(
        BackupRef(scene.run, 1).claimed_name
    )
    order: RestoreOrder = lake.restore_order(scene.run, scene.restore_run, new_name=to)
    tools = lake.tools(claimed.parent)
    restore_batches(order, tools_of=lambda _directory: tools)


def _restore(scene: Scene, lost: OutcomeUnknown, _approved: bool) -> None:
    scene.lake.drop(scene.name, run=scene.run)
    scene.lake.claim(scene.run, scene.restore_run)
    _acting(scene, lost, lambda: _restore_now(scene))
    scene.release(scene.restore_run)
    scene.check()
    scene.check_restored()


def _restore_as(scene: Scene, lost: OutcomeUnknown, _approved: bool) -> None:
    scene.lake.drop(scene.name, run=scene.run)
    make_places(scene.lake, scene.lake.claim(scene.run, scene.restore_run), scene.elsewhere)
    _acting(scene, lost, lambda: _restore_now(scene, scene.elsewhere))
    scene.release(scene.restore_run)
    scene.check("t_back")
    rest, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    scene.check("t_back")
    scene.check_undone(scene.restore_run, rest)
    scene.check_restored()


def _undo(scene: Scene, lost: OutcomeUnknown, _approved: bool) -> None:
    lake = scene.lake
    lake.drop(scene.name, run=scene.run)
    back, _ = restore(lake, scene.run, new_name=scene.elsewhere)
    claimed = lake.claim(scene.run, scene.undo_run)
    order = lake.restore_order(scene.run, scene.undo_run)
    undo = UndoOrder(scene.undo_run, 1, order.lake, back, order.batches)
    _acting(
        scene,
        lost,
        lambda: undo_batches(undo, tools_of=lambda _directory: lake.tools(claimed.parent)),
    )
    scene.release(scene.undo_run)
    scene.check("t_back")
    scene.check_undone(back)
    scene.check_restored()


def _move_now(scene: Scene) -> None:
    lake = scene.lake
    order = move_order(lake, scene.run)
    items = moves_of(lake, scene.name, lake.db_path.child("moved"))
    move_items(order, items, rules=move_rules(lake), tools=lake.tools(order.fence))


def _move(scene: Scene, lost: OutcomeUnknown, approved: bool) -> None:
    _acting(scene, lost, lambda: _move_now(scene))
    _settle_move(scene, approved=approved)


def _settle_move(scene: Scene, *, approved: bool) -> None:
    seal_moves(scene.lake, scene.run, approved=approved)
    after = scene.lake.snapshot(scene.name)
    if after.files != scene.before.files:
        raise Broken("I1: what is registered is not where the data is")
    if seal_moves(scene.lake, scene.run, approved=approved):
        raise Broken("I5: settling again changed something")
    places = [scene.lake.db_path.child("t"), scene.lake.db_path.child("moved")]
    if sum(scene.lake.fs.status(place) is not None for place in places) != 1:
        raise Broken("I1: the data is at both places")
    if scene.lake.snapshot(scene.other) != scene.bystander:
        raise Broken("I3: something that nobody approved was touched")


def _settle_of_move(scene: Scene, lost: OutcomeUnknown, approved: bool) -> None:
    # For an alter to be settle's, the driver's must not have reached the metastore.
    _acting(scene, OutcomeUnknown("alter", "unsent"), lambda: _move_now(scene))
    _acting(scene, lost, lambda: seal_moves(scene.lake, scene.run, approved=approved))
    _settle_move(scene, approved=approved)


def _purge(scene: Scene, lost: OutcomeUnknown, _approved: bool) -> None:
    lake = scene.lake
    lake.drop(scene.name, run=scene.run)
    fence = lake.day.taken(FenceKind.PURGE, str(uuid.uuid4()), 1)
    open_fence(lake.fs, fence, lease_until=datetime.now(UTC) + LEASE)
    claimed = fence.child(BackupRef(scene.run, 1).claimed_name)
    move_directory(lake.fs, lake.day.sealed(scene.run, 1), claimed)
    claims = tuple(
        PurgeBatch(
            "b", "t", claimed, one.intent.batch, one.sha256, datetime(2020, 1, 1, tzinfo=UTC)
        )
        for one in batches(lake.fs, claimed)
    )

    def purge() -> PurgeResult:
        result = PurgeResult()
        tools = lake.tools(fence)
        tools.clock = lambda: datetime.now(UTC) + timedelta(days=60)
        purge_batches(PurgeOrder("p", claims, lake.occupied), tools, result=result)
        return result

    _acting(scene, lost, purge)
    if lake.fs.status(claimed) is not None and not all(
        has_purge_begun(lake.fs, one) for one in batches(lake.fs, claimed)
    ):
        raise Broken("I4: a begun purge bears no mark")
    if purge().counts != {"PURGED": len(claims)}:
        raise Broken("I4: a purge that goes on does not end")
    if lake.files(fence.child(BackupRef(scene.run, 1).purged_name)) == ():
        raise Broken("I4: a purged backup is not verified empty")
    if lake.snapshot(scene.other) != scene.bystander:
        raise Broken("I3: something that nobody approved was touched")


def _settle(scene: Scene, lost: OutcomeUnknown, approved: bool) -> None:
    _acting(scene, OutcomeUnknown("drop", "unsent"), lambda: _drop_now(scene))
    _acting(scene, lost, lambda: scene.lake.seal(scene.run, approved=approved))
    scene.settle(approved=approved)
    scene.check()
    scene.check_restored()


def _waited(scene: Scene, change: str, *, approved: bool) -> None:
    """Change what is half dropped: it gets its data back, whatever the approval says."""
    lake = scene.lake
    _acting(scene, OutcomeUnknown("drop", "unsent"), lambda: _drop_now(scene))
    _CHANGE[change](lake, scene)
    changed = lake.snapshot(scene.name)
    scene.settle(approved=approved)
    key = "dt=a" if "dt=a" in scene.before.items else ""
    after = lake.snapshot(scene.name)
    if after.files.get(key) != scene.before.files[key]:
        raise Broken("I2: what was changed is registered, and its data is not back")
    if after.items[key] != changed.items[key]:
        raise Broken("I7: the change is lost")
    others = {k: v for k, v in scene.before.files.items() if k != key}
    if not approved and {k: after.files.get(k) for k in others} != others:
        raise Broken("I1: what is no longer approved is not back")


def _struct(lake: ActLake, scene: Scene) -> Any:
    table = lake.metastore.table(scene.name)
    if not table.partitionKeys:
        return table
    return lake.metastore.partitions_by_names(scene.name, ["dt=a"])[0]


def _put(lake: ActLake, scene: Scene, struct: Any, **parameters: str) -> None:
    struct.parameters |= parameters
    if hasattr(struct, "values"):
        lake.metastore.alter_partitions(scene.name, [struct])
    else:
        lake.metastore.alter_table_keeping_times(scene.name, struct)


def _analyze(lake: ActLake, scene: Scene) -> None:
    struct = _struct(lake, scene)
    _put(lake, scene, struct, numRows="7", transient_lastDdlTime="1800000000")


def _alter(lake: ActLake, scene: Scene) -> None:
    struct = _struct(lake, scene)
    struct.sd.serdeInfo.parameters = {**(struct.sd.serdeInfo.parameters or {}), "line": "x"}
    _put(lake, scene, struct, note="changed", transient_lastDdlTime="1800000001")


def _set_ttl(lake: ActLake, scene: Scene) -> None:
    struct = _struct(lake, scene)
    _put(lake, scene, struct, TTL="365", transient_lastDdlTime="1800000002")


def _make_again(lake: ActLake, scene: Scene) -> None:
    struct = _struct(lake, scene)
    struct.parameters |= {"made": "again", "transient_lastDdlTime": "1800000003"}
    if hasattr(struct, "values"):
        lake.metastore.drop_partitions(scene.name, ["dt=a"])
        lake.metastore.add_partitions([struct], if_not_exists=False)
    else:
        lake.metastore.drop_table(scene.name)
        lake.metastore.create_table(struct)


_CHANGE = {"analyze": _analyze, "alter": _alter, "ttl": _set_ttl, "again": _make_again}
_RUN: dict[str, Callable[[Scene, OutcomeUnknown, bool], None]] = {
    "drop-lost": _drop,
    "restore-lost": _restore,
    "restore-as-lost": _restore_as,
    "undo-lost": _undo,
    "move-lost": _move,
    "settle-lost": _settle,
    "settle-move-lost": _settle_of_move,
    "purge-lost": _purge,
}
