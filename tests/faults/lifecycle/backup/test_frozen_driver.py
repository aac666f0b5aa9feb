"""A driver frozen before it moves or drops, taken over, and woken up again must harm nothing.

Each proof has its control: the same without the fence must break a named invariant.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from stack.stack import Stack
from tests.faults.scene import Broken, Scene


def wait_frozen(process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "T":
            return
        assert process.poll() is None, process.communicate()
        time.sleep(0.05)
    raise AssertionError("the driver never reached its failpoint")


def wake(process: "subprocess.Popen[str]") -> str:
    os.kill(process.pid, signal.SIGCONT)
    out, err = process.communicate(timeout=120)
    return out + err


@pytest.fixture(params=["table", "parts"])
def shape(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestFrozen:
    """Frozen before (e), the rename, and before (g), the metadata drop."""

    def _scene(self, stack: Stack, shape: str) -> Scene:
        return Scene(stack.config("main"), shape=shape, ownership="managed")

    @pytest.mark.parametrize("point", ["rename:before:stop", "drop:before:stop"])
    @pytest.mark.parametrize("approved", [True, False], ids=["finished", "taken-back"])
    def test_live_data_and_metadata_stand_after_a_zombie_wakes(
        self, embedded_stack: Stack, shape: str, point: str, approved: bool
    ) -> None:
        scene = self._scene(embedded_stack, shape)
        zombie = scene.start_drop(point)
        wait_frozen(zombie)
        scene.settle(approved=approved)
        scene.check()
        scene.check_restored()
        said = wake(zombie)
        assert zombie.returncode == 3, said
        assert "act.fenced" in said
        scene.check_equal()

    def test_without_the_fence_a_zombie_moves_live_data_away(
        self, embedded_stack: Stack, shape: str
    ) -> None:
        scene = self._scene(embedded_stack, shape)
        zombie = scene.start_drop("rename:before:stop", fence=False)
        wait_frozen(zombie)
        scene.settle(approved=False)
        scene.check()
        wake(zombie)
        with pytest.raises(Broken, match=r"^I1: the data of .* is live=False and in backup=False"):
            scene.check()

    def test_without_the_fence_a_zombie_drops_the_metadata_of_live_data(
        self, embedded_stack: Stack, shape: str
    ) -> None:
        scene = self._scene(embedded_stack, shape)
        zombie = scene.start_drop("drop:before:stop", fence=False)
        wait_frozen(zombie)
        scene.settle(approved=False)
        scene.check()
        wake(zombie)
        with pytest.raises(Broken, match=r"^I2: .* is live but not registered"):
            scene.check()

    def test_a_lease_that_is_over_stops_the_metadata_drop(
        self, embedded_stack: Stack, shape: str
    ) -> None:
        scene = self._scene(embedded_stack, shape)
        driver = scene.start_drop("drop:before:stop")
        wait_frozen(driver)
        scene.end_lease()
        said = wake(driver)
        assert driver.returncode == 3, said
        assert "lease is over" in said
        scene.settle(approved=False)
        scene.check_restored()
