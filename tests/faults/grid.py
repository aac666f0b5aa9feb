"""The failpoint grid: acting killed before and after each step, or left without an answer.

`python -m tests.faults.grid LAKES_JSON RESULTS [--slice TEXT] [--limit N]` goes on where an earlier
run stopped and prints cases run of cases possible. For LAKES_JSON, `embedded` and `full` start a
stack for as long as the grid runs; `available` starts one with two NameNodes, for the cells with a
failover.
"""

import argparse
import itertools
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from portal.connectors.lake_config import LakeConfig, load_lakes
from stack.ha_stack import HaStack
from stack.servers.ha_hdfs import HaHdfs
from stack.stack import Stack
from tests.faults.failover import failover_points, run_failover
from tests.faults.scene import Scene, expect_killed
from tests.faults.unsure import POINTS, run_outcome_unknown, unsure_points
from tests.support.act_restores import restore

DROP_STEPS = (
    "control",
    "facts",
    "intent",
    "recheck",
    "rename",
    "listing",
    "drop",
    "confirm",
    "done",
)
RESTORE_STEPS = (
    "control",
    "facts",
    "intent",
    "rename",
    "listing",
    "register",
    "extras",
    "confirm",
    "done",
)
# The last one is there only where the restore had to make a table for its partitions.
UNDO_STEPS = (
    *("control", "facts", "intent", "rename", "listing", "drop", "confirm", "done"),
    "table",
)
_OUTCOME_UNKNOWN = (*POINTS, "waited")
_FAILOVER = "-failover"
SHAPES = tuple(itertools.product(("table", "parts"), ("managed", "external")))


@dataclass(frozen=True, slots=True)
class Case:
    """One cell of the grid."""

    kind: str
    point: str
    shape: str
    ownership: str
    approved: bool

    @property
    def name(self) -> str:
        """The case's name, by which a resumed run knows it."""
        approval = "approved" if self.approved else "lapsed"
        return f"{self.kind}/{self.point}/{self.shape}/{self.ownership}/{approval}"


def all_cases() -> list[Case]:
    """Return every cell: drop with and without a standing approval, restore to both names, undo.

    Of every remote effect the answer is lost, too, and what is half dropped is changed.
    """
    return [
        case
        for shape, ownership in SHAPES
        for case in (*_killed(shape, ownership), *_outcome_unknown(shape, ownership))
    ]


def failover_cases() -> list[Case]:
    """Return the cells that need two NameNodes: all steps of drop, restore and undo."""
    return [
        Case(f"{kind}{_FAILOVER}", point, shape, ownership, approved)
        for shape, ownership in SHAPES
        for kind, steps, call in _failing_over(shape)
        for step in steps
        for point in failover_points(step, call)
        for approved in ((True, False) if kind == "drop" else (True,))
    ]


def _failing_over(shape: str) -> Iterator[tuple[str, Sequence[str], str]]:
    yield "drop", DROP_STEPS, "drop"
    yield "restore", RESTORE_STEPS, "register"
    yield "restore-as", RESTORE_STEPS, "register"
    yield "undo", UNDO_STEPS[: None if shape == "parts" else -1], "drop"


def widest_first(cases: Iterable[Case]) -> list[Case]:
    """Return cases so that a run cut short has met each kind and point once before any twice.

    Each point begins with another of its cells, so that shapes and ownerships take turns.
    """
    cells: dict[tuple[str, str], list[Case]] = {}
    for case in cases:
        cells.setdefault((case.kind, case.point), []).append(case)
    turned = [[*row[n % len(row) :], *row[: n % len(row)]] for n, row in enumerate(cells.values())]
    rounds = itertools.zip_longest(*turned)
    return [case for one in rounds for case in one if case is not None]


def _killed(shape: str, ownership: str) -> Iterator[Case]:
    for step in DROP_STEPS:
        for moment in _moments(step, "drop", shape):
            for approved in (True, False):
                yield Case("drop", f"{step}:{moment}", shape, ownership, approved)
    for step in RESTORE_STEPS:
        for moment in (*_moments(step, "register", shape), *_extras_calls(step)):
            for kind in ("restore", "restore-as"):
                yield Case(kind, f"{step}:{moment}", shape, ownership, True)
    for step in UNDO_STEPS[: None if shape == "parts" else -1]:
        for moment in _moments(step, "drop", shape):
            yield Case("undo", f"{step}:{moment}", shape, ownership, True)


def _outcome_unknown(shape: str, ownership: str) -> Iterator[Case]:
    for kind in _OUTCOME_UNKNOWN:
        for point, approved in unsure_points(kind):
            yield Case(kind, point, shape, ownership, approved)


def _moments(step: str, call: str, shape: str) -> Iterator[str]:
    yield "before:kill"
    yield "after:kill"
    if step == call:
        yield "send:kill"
    if step == "rename" and shape == "parts":
        yield "after:kill:2"


def _extras_calls(step: str) -> Iterator[str]:
    """Yield the kills between the calls that bring back statistics, grants and constraints."""
    if step == "extras":
        yield from ("send:kill:2", "send:kill:3")


def run_case(config: LakeConfig, case: Case, *, ha: HaHdfs | None = None) -> None:
    """Run one case to its end; Broken names the invariant that did not hold.

    A case with a failover needs the lake's name service.
    """
    scene = Scene(config, shape=case.shape, ownership=case.ownership)
    try:
        if ha is not None:
            kind = case.kind.removesuffix(_FAILOVER)
            run_failover(scene, kind, case.point, approved=case.approved, ha=ha)
            return
        if case.kind in _OUTCOME_UNKNOWN:
            run_outcome_unknown(scene, case.kind, case.point, approved=case.approved)
            return
        if case.kind == "drop":
            expect_killed(scene.start_drop(case.point))
            scene.settle(approved=case.approved)
            scene.check()
        else:
            scene.lake.drop(scene.name, run=scene.run)
            _RUN[case.kind](scene, case.point)
        scene.check_restored()
    finally:
        scene.close()


def _restore(scene: Scene, point: str) -> None:
    expect_killed(scene.start_restore(point))
    scene.release(scene.restore_run)
    scene.check()


def _restore_as(scene: Scene, point: str) -> None:
    expect_killed(scene.start_restore(point, to=scene.elsewhere))
    scene.release(scene.restore_run)
    scene.check("t_back")
    rest, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    scene.check("t_back")
    scene.check_undone(scene.restore_run, rest)


def _undo(scene: Scene, point: str) -> None:
    back, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    expect_killed(scene.start_undo(point, back))
    scene.release(scene.undo_run)
    scene.check("t_back")
    scene.check_undone(back)


_RUN = {"restore": _restore, "restore-as": _restore_as, "undo": _undo}


def main(argv: Sequence[str]) -> int:
    """Run a slice of the grid, appending to a results file; 1 when anything failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lakes", help="a file of lakes, or embedded or full: a stack of its own")
    parser.add_argument("results", type=Path)
    parser.add_argument("--slice", default="", help="only cases whose name contains this")
    parser.add_argument("--limit", type=int, default=10_000)
    given = parser.parse_args(argv)
    with _lake(given.lakes) as (config, ha):
        return _run(config, given, ha)


@contextmanager
def _lake(lakes: str) -> Iterator[tuple[LakeConfig, HaHdfs | None]]:
    """Yield the lake of a file, or one on a stack that stands as long as it is used."""
    starts: dict[str, Callable[[Path], Stack]] = {
        "embedded": Stack.embedded,
        "full": Stack.full,
        "available": HaStack.available,
    }
    if lakes not in starts:
        yield load_lakes(Path(lakes))["main"], None
        return
    with tempfile.TemporaryDirectory() as home, starts[lakes](Path(home)) as stack:
        yield stack.config("main"), stack.ha if isinstance(stack, HaStack) else None


def _run(config: LakeConfig, given: argparse.Namespace, ha: HaHdfs | None) -> int:
    known = _known(given.results)
    cases = failover_cases() if ha is not None else all_cases()
    wanted = [
        case for case in widest_first(cases) if given.slice in case.name and case.name not in known
    ]
    failed = 0
    with given.results.open("a", encoding="utf-8") as file:
        for case in wanted[: given.limit]:
            started, problem = time.monotonic(), ""
            try:
                run_case(config, case, ha=ha)
            except Exception as error:
                problem, failed = f"{type(error).__name__}: {error}", failed + 1
            row = {"case": case.name, "problem": problem, "s": round(time.monotonic() - started, 1)}
            file.write(json.dumps(row) + "\n")
            file.flush()
            sys.stdout.write(f"{row}\n")
    n_run = len(_known(given.results))
    sys.stdout.write(f"{n_run} of {len(cases)} cases run, {failed} failed now\n")
    return bool(failed)


def _known(results: Path) -> set[str]:
    if not results.exists():
        return set()
    rows = (json.loads(line) for line in results.read_text(encoding="utf-8").splitlines())
    return {row["case"] for row in rows if not row["problem"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
