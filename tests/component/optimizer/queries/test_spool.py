"""Segments on the disk: several processes, a kill, bounds, and who closes them."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from optimizer.queries.domain.segments import CLOSED, OPEN, SEGMENT_BYTES
from optimizer.queries.services import spool
from optimizer.queries.services.spool import (
    SegmentWriter,
    segment_read,
    segments_close,
    segments_closed,
    segments_remove,
    spool_folder,
)
from stack.places import REPO

NOW = datetime(2026, 11, 27, 12, tzinfo=UTC)
LATER = NOW + timedelta(minutes=6)
SHAPE = b'{"shape":"s","text":"SELECT ?"}\n'
ENDLESS = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from optimizer.queries.services.spool import SegmentWriter
writer = SegmentWriter(Path(sys.argv[1]), most_bytes=1 << 28)
n = 0
while True:
    line = b'{"query_id":"%d","n":"%s"}\\n' % (n, b"x" * 5000)
    assert writer.append("s", b'{"shape":"s","text":"SELECT ?"}\\n', line, now=datetime.now(UTC))
    n += 1
    print(n, flush=True)
"""


@pytest.fixture
def folder(tmp_path: Path, settings: Any) -> Iterator[Path]:
    """The folder of a lake's segments, with no writer of an earlier test."""
    settings.LAKEWARDEN_VAR = tmp_path
    yield spool_folder("main")
    spool._writers.clear()


def query(n: int, size: int = 10) -> bytes:
    return json.dumps({"query_id": str(n), "n": "x" * size}).encode() + b"\n"


def lines(folder: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(folder.glob(f"*{CLOSED}")):
        for line in path.read_bytes().splitlines(keepends=True):
            assert line.endswith(b"\n")
            found.append(json.loads(line))
    return found


def test_a_shape_is_written_once_in_each_segment(folder: Path) -> None:
    writer = SegmentWriter(folder, most_bytes=1 << 20)
    for n in range(3):
        assert writer.append("s", SHAPE, query(n), now=NOW)
    assert [path.suffix for path in folder.iterdir()] == [OPEN]
    assert writer.append("s", SHAPE, query(3), now=LATER)  # which closes it, for its age
    assert writer.append("s", SHAPE, query(4), now=LATER)
    segments_close("main", now=LATER, is_all=True)
    first, second = segments_closed("main", most=9)
    assert [one.get("query_id") for one in lines(folder)] == [None, "0", "1", "2", "3", None, "4"]
    assert (segment_read("main", second) or b"").count(b"\n") == 2
    modes = {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()}
    assert (modes, oct(folder.stat().st_mode & 0o777)) == ({"0o600"}, "0o700")
    segments_remove("main", [first, first])
    assert segments_closed("main", most=9) == [second]
    assert segment_read("main", first) is None


def test_a_large_segment_is_closed(folder: Path) -> None:
    writer = SegmentWriter(folder, most_bytes=1 << 30)
    for n in range(9):
        writer.append("s", SHAPE, query(n, SEGMENT_BYTES // 4), now=NOW)
    assert len(segments_closed("main", most=9)) == 2


def test_anybody_closes_a_segment_and_its_writer_begins_another(folder: Path) -> None:
    writer = SegmentWriter(folder, most_bytes=1 << 20)
    writer.append("s", SHAPE, query(1), now=NOW)
    segments_close("main", now=NOW + timedelta(minutes=1))
    assert segments_closed("main", most=9) == [], "it is not old yet"
    segments_close("main", now=LATER)
    segments_close("main", now=LATER)
    writer.append("s", SHAPE, query(2), now=NOW + timedelta(seconds=1))
    segments_close("main", now=LATER)
    assert len(segments_closed("main", most=9)) == 2
    assert [one.get("query_id") for one in lines(folder)] == [None, "1", None, "2"]


def test_what_has_no_room_is_not_kept_and_room_comes_again(folder: Path) -> None:
    writer = SegmentWriter(folder, most_bytes=5_000)
    taken = [writer.append("s", SHAPE, query(n, 1_000), now=NOW) for n in range(9)]
    assert taken == [True] * 4 + [False] * 5
    segments_close("main", now=LATER)
    segments_remove("main", segments_closed("main", most=9))
    writer._looked_at = float("-inf")
    assert writer.append("s", SHAPE, query(1), now=LATER)


def test_a_disk_that_refuses_is_no_error(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("no folder", encoding="utf-8")
    writer = SegmentWriter(folder, most_bytes=1 << 20)
    assert not writer.append("s", SHAPE, query(1), now=NOW)
    folder.unlink()
    assert writer.append("s", SHAPE, query(1), now=NOW)


def test_threads_and_a_closer_lose_nothing(folder: Path) -> None:
    writer = SegmentWriter(folder, most_bytes=1 << 28)

    def write(part: int) -> None:
        for n in range(300):
            assert writer.append("s", SHAPE, query(part * 1000 + n), now=NOW)

    threads = [Thread(target=write, args=(part,)) for part in range(4)]
    for one in threads:
        one.start()
    while any(one.is_alive() for one in threads):
        segments_close("main", now=LATER)
    segments_close("main", now=LATER)
    told = [one["query_id"] for one in lines(folder) if "query_id" in one]
    assert len(told) == len(set(told)) == 1200


def test_processes_have_segments_of_their_own_and_a_killed_one_loses_no_whole_line(
    folder: Path,
) -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "portal.settings.test"}
    programs = [
        subprocess.Popen(
            [sys.executable, "-c", ENDLESS, str(folder)],
            stdout=subprocess.PIPE,
            cwd=REPO,
            env=environment,
            text=True,
        )
        for _ in range(2)
    ]
    said = []
    for one in programs:
        assert one.stdout is not None
        for n_lines, _ in enumerate(one.stdout, 1):
            if n_lines == 50:
                break
        one.send_signal(signal.SIGKILL)
        rest = one.stdout.read().split()
        one.stdout.close()
        one.wait()
        said.append(50 + len(rest))
    segments_close("main", now=datetime.now(UTC), is_all=True)
    found: dict[str, int] = {}
    for path in folder.glob(f"*{CLOSED}"):
        whole = [one for one in path.read_bytes().splitlines(keepends=True) if one[-1:] == b"\n"]
        found[path.stem] = sum("query_id" in json.loads(one) for one in whole)
    assert sum(found.values()) >= sum(said)
    assert len(found) >= 2


@pytest.mark.parametrize("name", ["../x", "", "a" * 46])
def test_only_a_segment_s_name_becomes_a_path(folder: Path, name: str) -> None:
    with pytest.raises(ValueError, match="no segment"):
        segment_read("main", name)
    with pytest.raises(ValueError, match="no segment"):
        segments_remove("main", [name])
