"""The cells of the fault grid in which the file system fails over while a process acts.

The process stops at a step, the active NameNode goes, and the process goes on with the other one.
Only a lake with two NameNodes can run them: `python -m tests.faults.grid available RESULTS`.
"""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from stack.servers.ha_hdfs import HaHdfs
from tests.faults.scene import Scene
from tests.support.act_restores import restore

HOW = ("dies", "freezes", "hands over")
_STOP_SECONDS = 60.0
_END_SECONDS = 110.0

# Lets a process come to its point, fails over, and lets it come to its end.
Midway = Callable[[subprocess.Popen[str]], None]


def failover_points(step: str, call: str) -> Iterator[str]:
    """Return the points of a step: before and after it, and right before its call is sent."""
    for moment in ("before", "after", *(("send",) if step == call else ())):
        for how in HOW:
            yield f"{step}:{moment}:{how}"


def run_failover(scene: Scene, kind: str, point: str, *, approved: bool, ha: HaHdfs) -> None:
    """Run one cell to its end; Broken names the invariant that did not hold."""
    step, moment, how = point.split(":")
    _RUN[kind](scene, f"{step}:{moment}:stop", approved, lambda one: fail_over_amid(one, how, ha))


def fail_over_amid(process: subprocess.Popen[str], how: str, ha: HaHdfs) -> None:
    """Fail over where a process has stopped, and let it come to its end."""
    _wait_stopped(process)
    try:
        ha.fail_over(how)
        os.kill(process.pid, signal.SIGCONT)
        _expect_end(process)
    finally:
        process.kill()
        # Settling is tried again until the file system answers; here it waits for that.
        ha.recover()


def _expect_end(process: subprocess.Popen[str]) -> None:
    """Let a process finish, or stop with an error that settling is made for; nothing else."""
    out, err = process.communicate(timeout=_END_SECONDS)
    if process.returncode not in (0, 3):
        raise AssertionError(f"ended with {process.returncode}: {out} {err[-2000:]}")


def _wait_stopped(process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + _STOP_SECONDS
    while process_state(process.pid) != "T":
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            out, err = process.communicate()
            raise AssertionError(f"did not come to its point: {out} {err[-2000:]}")
        time.sleep(0.02)


def process_state(pid: int) -> str:
    """Return the letter of a process's state, T for one that was stopped; empty: it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return ""


def _drop(scene: Scene, failpoint: str, approved: bool, midway: Midway) -> None:
    midway(scene.start_drop(failpoint))
    scene.settle(approved=approved)
    scene.check()
    scene.check_restored()


def _restore(scene: Scene, failpoint: str, _approved: bool, midway: Midway) -> None:
    scene.lake.drop(scene.name, run=scene.run)
    midway(scene.start_restore(failpoint))
    scene.release(scene.restore_run)
    scene.check()
    scene.check_restored()


def _restore_as(scene: Scene, failpoint: str, _approved: bool, midway: Midway) -> None:
    scene.lake.drop(scene.name, run=scene.run)
    midway(scene.start_restore(failpoint, to=scene.elsewhere))
    scene.release(scene.restore_run)
    scene.check("t_back")
    rest, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    scene.check("t_back")
    scene.check_undone(scene.restore_run, rest)
    scene.check_restored()


def _undo(scene: Scene, failpoint: str, _approved: bool, midway: Midway) -> None:
    scene.lake.drop(scene.name, run=scene.run)
    back, _ = restore(scene.lake, scene.run, new_name=scene.elsewhere)
    midway(scene.start_undo(failpoint, back))
    scene.release(scene.undo_run)
    scene.check("t_back")
    scene.check_undone(back)
    scene.check_restored()


_RUN = {"drop": _drop, "restore": _restore, "restore-as": _restore_as, "undo": _undo}
