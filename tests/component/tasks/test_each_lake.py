"""Tests that a lake whose systems hang, fail or answer garbage holds up no other in any loop."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from portal.connectors.lake_config import LakeConfig
from portal.events.models import EventPosition
from portal.events.services import follow_once
from portal.lake.errors import ExternalFailure
from portal.lake.ids import LakeId
from portal.runs.models import Run
from tasks import follow, schedule, supervise, trimming, watchdog
from tasks.each_lake import EachLake
from tests.component.conftest import LAKE
from tests.support.lakes import local_lake

OTHER = "second"
PATIENCE = 20.0
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def two_lakes(lake: LakeConfig, tmp_path: Path, settings: Any) -> None:
    """Govern a second lake beside `main`, which comes before it in every loop."""
    other = local_lake(tmp_path / OTHER, LakeId(OTHER))
    entries = {LAKE: lake.as_dict(), OTHER: other.as_dict()}
    settings.LAKEWARDEN_LAKES.write_text(json.dumps(entries), encoding="utf-8")


class Hanging:
    """Hangs for `main` until it is let go, and notes what was done for the other lake."""

    def __init__(self) -> None:
        self.go_on, self.reached = threading.Event(), threading.Event()
        self.n_hung = 0

    def work(self, lake: str) -> None:
        if lake == LAKE:
            self.n_hung += 1
            self.go_on.wait(PATIENCE)
        else:
            self.reached.set()


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    found = Hanging()
    yield found
    found.go_on.set()
    for thread in threading.enumerate():
        if ":" in thread.name and thread is not threading.current_thread():
            thread.join(PATIENCE)


def of(hanging: Hanging, given: Callable[..., str]) -> Callable[..., Any]:
    """Make what a loop calls for a lake hang; `given` finds the lake in its arguments."""

    def called(*args: Any, **_: Any) -> Any:
        hanging.work(given(*args))
        return None

    return called


@pytest.mark.usefixtures("two_lakes")
@pytest.mark.parametrize(
    ("module", "name", "given", "turn"),
    [
        (follow, "_catch_up", str, follow.follow),
        (trimming, "results_trim", str, trimming.trim),
        (schedule, "_sync", str, schedule.schedule),
        (supervise, "run_poll", lambda run: run.lake, supervise.supervise),
        (watchdog, "take_over", str, watchdog.watchdog),
    ],
)
def test_a_hanging_lake_holds_up_no_loop_of_the_other(
    hanging: Hanging,
    monkeypatch: pytest.MonkeyPatch,
    module: Any,
    name: str,
    given: Callable[..., str],
    turn: Callable[[datetime], None],
) -> None:
    runs = [Run(lake=lake, kind="test.kind", requested_by="x") for lake in (LAKE, OTHER)]
    monkeypatch.setattr(supervise, "runs_here", lambda: runs)
    monkeypatch.setattr(watchdog, "lakes_left", lambda **_: [LAKE, OTHER])
    monkeypatch.setattr(schedule, "all_kinds", list)
    monkeypatch.setattr(schedule, "all_ticks", list)
    monkeypatch.setattr(module, name, of(hanging, given))
    for _ in range(2):
        hanging.reached.clear()
        began = time.monotonic()
        turn(timezone.now())
        assert hanging.reached.wait(PATIENCE)
        assert time.monotonic() - began < PATIENCE / 2
    assert hanging.n_hung == 1, "a lake that hangs gets no second turn meanwhile"


@pytest.mark.usefixtures("two_lakes")
def test_an_error_of_one_lake_is_not_the_others(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    def work(lake: str) -> None:
        if lake == LAKE:
            raise ZeroDivisionError
        done.append(lake)

    each = EachLake("test")
    for _ in range(2):
        each.turn([LAKE, OTHER], work)
    assert done == [OTHER, OTHER]
    assert "test of main: a turn failed" in caplog.text


@pytest.mark.usefixtures("lake")
def test_the_only_lake_works_in_the_thread_of_its_loop() -> None:
    names: list[str] = []
    EachLake("test").turn([LAKE], lambda _: names.append(threading.current_thread().name))
    assert names == [threading.current_thread().name]


@pytest.fixture
def garbage() -> Iterator[int]:
    """A metastore that answers what no Thrift client understands; gives its port."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            with link:
                link.sendall(b"HTTP/1.0 400 Bad Request\r\n\r\n" * 8)

    thread = threading.Thread(target=serve, name="garbage", daemon=True)
    thread.start()
    yield server.getsockname()[1]
    server.shutdown(socket.SHUT_RDWR)
    server.close()
    thread.join(PATIENCE)


@pytest.mark.usefixtures("two_lakes")
@pytest.mark.parametrize("is_there", [False, True])
def test_a_metastore_that_is_away_or_answers_garbage_fails_its_own_follower_alone(
    settings: Any, garbage: int, *, is_there: bool
) -> None:
    entries = json.loads(settings.LAKEWARDEN_LAKES.read_text(encoding="utf-8"))
    entries[LAKE] |= {"thrift_port": garbage if is_there else 1, "metastore_timeout_seconds": 5}
    settings.LAKEWARDEN_LAKES.write_text(json.dumps(entries), encoding="utf-8")
    with pytest.raises(ExternalFailure) as refused:
        follow_once(LAKE, timezone.now)
    assert refused.value.fields["service"] == "metastore"


@pytest.mark.usefixtures("two_lakes")
def test_health_tells_which_lake_is_silent(client: Client) -> None:
    now = timezone.now()
    for lake, at in ((LAKE, now), (OTHER, now - timedelta(minutes=9))):
        EventPosition.objects.create(
            lake=lake, first_id=1, position=1, newest_id=1, fence=1, moved_at=at, checked_at=at
        )
    checks = client.get("/readyz").json()["checks"]
    assert checks["lake:main"]["ok"] is True
    assert checks["lake:second"]["ok"] is False
    assert "last read 9 min ago" in checks["lake:second"]["detail"]
    seen_afar = Client(REMOTE_ADDR="10.0.0.9").get("/readyz").json()
    assert seen_afar["checks"].keys() == {"database", "broker", "supervisor", "lakes"}
    assert seen_afar["work"] is False
