"""What a job writes for the portal is written although a NameNode fell silent just then."""

from pathlib import Path
from typing import Any

import pytest

from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import ExternalFailure
from portal.lake.paths import LakePath
from portal.spark.spool import Progress, Spool
from tests.support.lost_answers import falling_silent, losing, no_name_node, refused

MANIFEST: dict[str, Any] = {"outcome": "done", "error": None, "result": {"n": 1}, "log": []}


@pytest.mark.parametrize("sent", [True, False])
def test_a_result_is_written_again_after_silence(tmp_path: Path, *, sent: bool) -> None:
    root = LakePath("file", "", str(tmp_path))
    first = losing(LocalFileSystem(), "replace", error=no_name_node(), sent=sent)
    fs = losing(first, "replace", error=no_name_node(), sent=False)
    Spool(fs, root).write_manifest(MANIFEST)
    assert fs.is_struck
    assert first.is_struck
    assert Spool(LocalFileSystem(), root).read_manifest() == MANIFEST


@pytest.mark.parametrize("sent", [True, False])
def test_progress_is_written_again_after_silence(tmp_path: Path, *, sent: bool) -> None:
    root = LakePath("file", "", str(tmp_path))
    fs = losing(LocalFileSystem(), "write_new", error=no_name_node(), sent=sent)
    step = Progress(1, "scan", 1, 2, "Half.", "2026-05-01T00:00:00+00:00")
    Spool(fs, root).write_progress(step)
    assert fs.is_struck
    assert Spool(LocalFileSystem(), root).progress_after(0) == [step]


@pytest.mark.parametrize(
    "fs",
    [
        falling_silent(LocalFileSystem(), "replace", sent=False),
        losing(LocalFileSystem(), "replace", error=refused(), sent=False),
    ],
    ids=["nobody answers at all", "refused"],
)
def test_what_cannot_be_written_is_an_error(tmp_path: Path, fs: LocalFileSystem) -> None:
    spool = Spool(fs, LakePath("file", "", str(tmp_path)))
    with pytest.raises(ExternalFailure):
        spool.write_manifest(MANIFEST)
    assert list(tmp_path.iterdir()) == []
