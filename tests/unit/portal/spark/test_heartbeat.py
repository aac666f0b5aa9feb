"""A driver's heartbeat: who was heard last, and what cannot be read is not silence."""

import json
import os
import threading
import time
from pathlib import Path

import pytest

from portal.spark.heartbeat import (
    BEAT_VARIABLE,
    DRIVER,
    JVM,
    LAUNCH,
    Heartbeat,
    heartbeat,
    oldest_sign,
    write_launched,
)
from portal.spark.process_table import cpu_seconds, host_identity, start_seconds


def wait_for(path: Path, part: str) -> float:
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        sign = oldest_sign(path)
        if sign is not None and sign.part == part:
            return sign.silent_seconds()
        time.sleep(0.01)
    raise AssertionError(f"never heard of {part}")


def test_a_launch_is_a_sign_until_the_driver_beats(tmp_path: Path) -> None:
    path = tmp_path / "run.beat"
    write_launched(path, 7)
    sign = oldest_sign(path)
    assert sign is not None
    assert (sign.part, sign.pid) == (LAUNCH, 7)
    beating = Heartbeat(path, seconds=0.02)
    assert wait_for(path, DRIVER) < 1
    write_launched(path, 8)
    assert wait_for(path, DRIVER) < 1
    beating.close()


def test_a_jvm_that_does_not_answer_is_the_silent_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.beat"
    beating = Heartbeat(path, seconds=0.02)
    answers = threading.Event()
    answers.set()
    beating.ask_jvm(answers.wait)
    time.sleep(0.2)
    answers.clear()
    monkeypatch.setattr("portal.spark.heartbeat._UNANSWERED", 0.1)
    time.sleep(0.4)
    sign = oldest_sign(path)
    assert sign is not None
    assert (sign.part, sign.pid) == (JVM, os.getppid())
    assert sign.silent_seconds() > 0.1
    answers.set()
    beating.close()


@pytest.mark.parametrize(("lag", "part"), [(0, DRIVER), (5, DRIVER), (7, JVM)])
def test_of_a_driver_that_froze_with_its_jvm_the_driver_is_told(
    tmp_path: Path, lag: float, part: str
) -> None:
    path, at = tmp_path / "run.beat", time.monotonic() - 60
    path.write_text(json.dumps([[DRIVER, 7, at], [JVM, 8, at - lag]]))
    sign = oldest_sign(path)
    assert sign is not None
    assert sign.part == part


def test_an_error_of_the_jvm_is_no_answer_and_it_is_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.spark.heartbeat._UNANSWERED", 0.1)
    path = tmp_path / "run.beat"
    beating = Heartbeat(path, seconds=0.02)
    broken = [True]

    def ask() -> None:
        if broken[0]:
            raise ConnectionError

    beating.ask_jvm(ask)
    time.sleep(0.2)
    sign = oldest_sign(path)
    assert sign is not None
    assert sign.part == JVM
    broken[0] = False
    deadline = time.monotonic() + 120
    while (sign := oldest_sign(path)) and sign.part == JVM:
        assert time.monotonic() < deadline
    beating.close()


@pytest.mark.parametrize("content", [b"", b"{", b"[[1]]", b"[]", b"3"])
def test_what_cannot_be_read_is_not_silence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "run.beat"
    assert oldest_sign(path) is None
    path.write_bytes(content)
    assert oldest_sign(path) is None


def test_without_a_file_to_beat_into_there_is_no_heartbeat(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(BEAT_VARIABLE, raising=False)
    with heartbeat() as beating:
        assert beating is None
    monkeypatch.setenv(BEAT_VARIABLE, str(tmp_path / "run.beat"))
    with heartbeat() as beating:
        assert beating is not None
        assert oldest_sign(tmp_path / "run.beat") is not None


def test_a_host_is_told_from_another_boot_or_container_of_its_name() -> None:
    name, boot, namespace = host_identity().split("/")
    assert Path("/proc/sys/kernel/random/boot_id").read_text().startswith(boot)
    assert f"[{namespace}]" in str(Path("/proc/self/ns/pid").readlink())
    assert name
    assert len(host_identity()) <= 90


def test_the_process_table_knows_this_process_and_no_other() -> None:
    assert start_seconds(os.getpid()) is not None
    assert cpu_seconds(os.getpid()) > 0
    assert start_seconds(1 << 23) is None
    assert cpu_seconds(1 << 23) == 0
