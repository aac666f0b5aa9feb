"""Calls of the portal's client while the active NameNode dies, freezes, or hands over."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from portal.connectors.file_status import rename_and_look
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.connectors.name_services import client as answers
from portal.lake.errors import ExternalFailure, PortalError
from stack.servers.ha_hdfs import NAME_NODES, HaHdfs
from tests.clusters.availability.conftest import Place
from tests.support.cut_line import CutLine, cut_line

Lines = tuple[Place, dict[str, CutLine]]


@pytest.fixture
def behind(ha: HaHdfs, place: Place) -> Iterator[Lines]:
    """A client that reaches each NameNode over a line that can be cut."""
    with (
        cut_line("127.0.0.1", ha.nodes["nn1"].port) as first,
        cut_line("127.0.0.1", ha.nodes["nn2"].port) as second,
    ):
        lines = dict(zip(NAME_NODES, (first, second), strict=True))
        addresses = {name: f"127.0.0.1:{line.port}" for name, line in lines.items()}
        quick = {"dfs.client.failover.max.attempts": "3"}
        settings = {**ha.client_properties(addresses), **quick}
        fs = HdfsFileSystem("lake", user="lakewarden", settings=settings)
        assert fs.names(place.base) == ["source"]
        yield Place(fs, place.base), lines


def test_a_dead_name_node_is_survived_without_a_word(ha: HaHdfs, place: Place) -> None:
    place.fs.write_new(place.source.child("file"), b"before")
    ha.kill("nn1")
    ha.activate("nn2")
    place.fs.rename(place.source, place.target)
    place.fs.write_new(place.target.child("later"), b"after")
    assert place.fs.names(place.target) == ["file", "later"]
    assert place.fs.read(place.target.child("file")) == b"before"


def test_an_orderly_failover_is_waited_for(ha: HaHdfs, place: Place) -> None:
    ha.retire("nn1")
    late = threading.Timer(1.0, ha.activate, ["nn2"])
    late.start()
    place.fs.rename(place.source, place.target)  # both are standbys for a second
    late.join()
    assert place.fs.names(place.base) == ["target"]


def test_two_standbys_are_not_now_and_nothing_has_happened(ha: HaHdfs, place: Place) -> None:
    hasty = HdfsFileSystem(
        "lake",
        user="lakewarden",
        settings={**ha.client_properties(), "dfs.client.failover.max.attempts": "1"},
    )
    ha.retire("nn1")
    with pytest.raises(ExternalFailure, match="StandbyException") as error:
        hasty.rename(place.source, place.target)
    assert (error.value.code, error.value.retryable) == ("fs.failed", True)
    ha.activate("nn1")
    assert place.fs.names(place.base) == ["source"]


@pytest.mark.parametrize("dies", [True, False], ids=["dies", "lives"])
def test_a_rename_whose_answer_is_lost_in_a_failover_is_sent_once(
    ha: HaHdfs, behind: Lines, *, dies: bool
) -> None:
    place, lines = behind
    lines["nn1"].lose_next()
    failover = _after_loss(lines["nn1"], lambda: _fail_over(ha, dies=dies))
    rename_and_look(place.fs, place.source, place.target)
    failover.join()
    assert lines["nn1"].n_lost == 1
    assert place.fs.names(place.base) == ["target"]


def test_a_lost_answer_stays_unsure_while_no_name_node_can_write(ha: HaHdfs, behind: Lines) -> None:
    place, lines = behind
    lines["nn1"].lose_next(1000)
    with pytest.raises(PortalError) as error:
        rename_and_look(place.fs, place.source, place.target)
    # Neither refused nor missing: what a run does with it is to end, and to be settled later.
    assert error.value.code == "fs.failed"
    lines["nn1"].lose_next(0)
    assert place.fs.names(place.base) == ["target"]


def test_a_frozen_name_node_is_given_up_and_its_successor_asked(
    ha: HaHdfs, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = _impatient(ha, monkeypatch)
    assert fs.names(place.base) == ["source"]
    ha.freeze("nn1")
    with pytest.raises(ExternalFailure, match="no answer within 4 s"):
        fs.names(place.base)
    ha.activate("nn2")
    rename_and_look(fs, place.source, place.target)
    assert fs.names(place.base) == ["target"]


def test_a_rename_sent_to_a_frozen_name_node_is_looked_at_where_edits_are_written(
    ha: HaHdfs, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    fs = _impatient(ha, monkeypatch)
    assert fs.names(place.base) == ["source"]
    ha.freeze("nn1")
    failover = threading.Timer(1.0, ha.activate, ["nn2"])
    failover.start()
    with pytest.raises(ExternalFailure) as error:
        rename_and_look(fs, place.source, place.target)
    failover.join()
    assert error.value.code == "fs.unknown"
    ha.resume("nn1")
    # What was sent comes too late: the journal takes no edit of it, and it ends.
    _wait(lambda: not ha.nodes["nn1"].process.is_alive())
    assert fs.names(place.base) == ["source"]
    fs.rename(place.source, place.target)
    assert fs.names(place.base) == ["target"]


def test_a_look_after_a_lost_answer_asks_no_name_node_whose_time_is_over(
    ha: HaHdfs, behind: Lines
) -> None:
    """A revived NameNode shows the past until it must write: the confirmation makes it."""
    place, _ = behind
    straight = HdfsFileSystem(
        "lake",
        user="lakewarden",
        settings={**ha.client_properties(), "dfs.ha.namenodes.lake": "nn2,nn1"},
    )
    ha.freeze("nn1")
    ha.activate("nn2")
    straight.rename(place.source, place.target)
    ha.resume("nn1")
    assert place.fs.names(place.base) == ["source"], "nn1 no longer shows the past: test nothing"
    place.fs._confirm(place.source, place.target)
    assert place.fs.names(place.base) == ["target"]


def _impatient(ha: HaHdfs, monkeypatch: pytest.MonkeyPatch) -> HdfsFileSystem:
    monkeypatch.setattr(answers, "DEADLINE_SECONDS", 4.0)
    settings = {**ha.client_properties(), "test.name": f"impatient {time.monotonic()}"}
    return HdfsFileSystem("lake", user="lakewarden", settings=settings)


def _fail_over(ha: HaHdfs, *, dies: bool) -> None:
    if dies:
        ha.kill("nn1")
    else:
        ha.retire("nn1")
    ha.activate("nn2")


def _after_loss(line: CutLine, act: Callable[[], None]) -> threading.Thread:
    """Act in the moment in which the line has lost its answer."""

    def watch() -> None:
        _wait(lambda: line.n_lost > 0)
        act()

    thread = threading.Thread(target=watch)
    thread.start()
    return thread


def _wait(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)
