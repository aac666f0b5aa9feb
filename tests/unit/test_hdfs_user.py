"""Calls of one user run side by side; a call as another user waits, and finds its own name."""

import os
import threading

import pytest

from portal.connectors.hdfs_user import VARIABLE, Turns


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
    monkeypatch.delenv(VARIABLE)
    with pytest.raises(KeyError), turns.of("bob"):
        raise KeyError
    assert VARIABLE not in os.environ


def test_calls_of_one_user_run_side_by_side_and_others_wait(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    turns = Turns()
    both_inside = threading.Barrier(2, timeout=10)
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
    last = threading.Thread(target=other)
    last.start()
    for thread in (*pair, last):
        thread.join(timeout=20)
    assert sorted(seen) == ["bob", "bob", "root"]
    assert VARIABLE not in os.environ


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
