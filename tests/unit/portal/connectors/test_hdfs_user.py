"""Calls of one user run side by side; a call as another user waits, and finds its own name."""

import os
import pwd
import threading
import time

import pytest

from portal.connectors.hdfs_user import VARIABLE, Turns
from portal.connectors.lake_config import LakeConfig, MetastoreDb
from portal.lake.ids import LakeId
from portal.spark.launch import driver_environment


def test_the_name_stands_as_long_as_a_call_is_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "before")
    turns = Turns()
    with turns.of("bob"):
        assert os.environ[VARIABLE] == "bob"
        with turns.of("bob"):
            assert os.environ[VARIABLE] == "bob"
        assert os.environ[VARIABLE] == "bob"
    assert os.environ[VARIABLE] == "before"
    with turns.of(None):
        assert os.environ[VARIABLE] == "before"
    with pytest.raises(KeyError), turns.of("bob"):
        raise KeyError
    assert os.environ[VARIABLE] == "before"


def test_the_variable_is_never_absent_and_names_the_process_by_itself(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Whoever lists the environment and then reads each name would fail on one that went away."""
    monkeypatch.delenv(VARIABLE, raising=False)
    me = pwd.getpwuid(os.geteuid()).pw_name
    turns = Turns()
    assert os.environ[VARIABLE] == me
    with turns.of("bob"):
        names = list(os.environ)
    assert {name: os.environ[name] for name in names}[VARIABLE] == me
    with turns.of(None):
        assert os.environ[VARIABLE] == me
    monkeypatch.delenv(VARIABLE)
    with turns.of(None):
        assert os.environ[VARIABLE] == me
    assert os.environ[VARIABLE] == me


def test_an_account_without_a_name_is_called_as_the_library_calls_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(os, "geteuid", lambda: 2**31 - 7)
    Turns()
    assert os.environ[VARIABLE] == "unknown"


def test_a_driver_gets_its_user_from_the_lake_alone() -> None:
    def environment(user: str | None) -> dict[str, str]:
        config = _config(user)
        with Turns().of("bob"):
            return driver_environment(config, {})

    assert environment("hive")[VARIABLE] == "hive"
    assert VARIABLE not in environment(None)


def test_calls_of_one_user_run_side_by_side_and_others_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    turns = Turns()
    before = os.environ[VARIABLE]
    both_inside = threading.Barrier(3, timeout=10)
    other_waits, seen = threading.Event(), []

    def side_by_side() -> None:
        with turns.of("bob"):
            both_inside.wait()  # passes only while both are inside
            other_waits.wait(10)
            seen.append(os.environ[VARIABLE])

    def other() -> None:
        other_waits.set()
        with turns.of("root"):
            seen.append(os.environ[VARIABLE])

    pair = [threading.Thread(target=side_by_side) for _ in range(2)]
    for thread in pair:
        thread.start()
    both_inside.wait()
    last = threading.Thread(target=other)
    last.start()
    for thread in (*pair, last):
        thread.join(timeout=20)
    assert sorted(seen) == ["bob", "bob", "root"]
    assert os.environ[VARIABLE] == before


def test_who_waits_comes_before_further_calls_of_the_user_that_is_inside() -> None:
    """Else a user whose calls hang, one always beside another, would keep all others out."""
    turns, order = Turns(), []
    ends, inside = threading.Event(), threading.Event()

    def call(user: str, end: threading.Event | None = None) -> None:
        with turns.of(user):
            order.append(user)
            inside.set()
            if end is not None:
                end.wait(20)

    hanging = threading.Thread(target=call, args=("bob", ends))
    hanging.start()
    assert inside.wait(10)
    others = [threading.Thread(target=call, args=(user,)) for user in ("root", "bob")]
    for n, thread in enumerate(others, start=1):
        thread.start()
        while len(turns._queue) < n:  # it waits behind those before it
            time.sleep(0.01)
    assert order == ["bob"]
    ends.set()
    for thread in (hanging, *others):
        thread.join(timeout=20)
    assert order == ["bob", "root", "bob"]


def test_a_wait_that_is_broken_off_leaves_nobody_behind_it_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    turns = Turns()
    with monkeypatch.context() as patch:
        patch.setattr(turns._changed, "wait_for", lambda _: _broken_off())
        with pytest.raises(KeyboardInterrupt), turns.of("bob"):
            pass
    with turns.of("root"):
        assert os.environ[VARIABLE] == "root"


def _broken_off() -> bool:
    raise KeyboardInterrupt


def test_many_users_at_once_each_find_their_own_name() -> None:
    turns, wrong = Turns(), []

    def call(user: str) -> None:
        for _ in range(200):
            with turns.of(user):
                if os.environ[VARIABLE] != user:
                    wrong.append(user)

    threads = [threading.Thread(target=call, args=(f"u{n % 3}",)) for n in range(9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert wrong == []


def _config(user: str | None) -> LakeConfig:
    return LakeConfig(
        lake=LakeId("main"),
        thrift_host="localhost",
        thrift_port=9083,
        metastore_db=MetastoreDb("derby", "", "", "", "", "", 0, ""),
        default_fs="hdfs://nn:8020",
        spool="hdfs://nn:8020/spool",
        time_zone="UTC",
        spark_master="local[1]",
        deployment_id="one",
        hadoop_user=user,
    )
