"""A rename of which HDFS never answers whether it is done, on a real NameNode behind a cut line."""

import uuid
from collections.abc import Iterator

import pytest

from portal.connectors.file_status import rename_and_look
from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.hdfs_filesystem import HdfsFileSystem
from portal.lake.errors import ExternalFailure, StaleState
from portal.lake.paths import LakePath
from stack.stack import Stack
from tests.support.cut_line import CutLine, cut_line

Line = tuple[FileSystem, CutLine, LakePath]


@pytest.fixture
def behind(full_stack: Stack) -> Iterator[Line]:
    """HDFS behind a line that can be cut, and an empty directory on it."""
    config = full_stack.config("main")
    base = config.path(f"/tmp/cut-{uuid.uuid4().hex}")
    straight = open_file_system(base, config=config)
    straight.make_directories(base, mode=0o755)
    straight.make_directory(base.child("source"), mode=0o755)
    host, _, port = base.authority.rpartition(":")
    with cut_line(host, int(port)) as line:
        fs = HdfsFileSystem(f"127.0.0.1:{line.port}", user=config.hadoop_user)
        assert fs.names(base) == ["source"]
        yield fs, line, base


def test_a_rename_whose_answer_is_lost_is_neither_done_nor_missing(behind: Line) -> None:
    fs, line, base = behind
    line.lose_next()
    with pytest.raises(ExternalFailure) as error:
        fs.rename(base.child("source"), base.child("target"))
    assert (error.value.code, error.value.retryable) == ("fs.unknown", True)
    assert line.n_lost == 1
    assert fs.names(base) == ["target"]


def test_both_ends_decide_what_a_lost_answer_was(behind: Line) -> None:
    fs, line, base = behind
    line.lose_next()
    rename_and_look(fs, base.child("source"), base.child("target"))
    assert fs.names(base) == ["target"]
    # A request that was repeated finds its own work done.
    rename_and_look(fs, base.child("source"), base.child("target"))
    with pytest.raises(StaleState) as gone:
        rename_and_look(fs, base.child("source"), base.child("elsewhere"))
    assert gone.value.code == "fs.missing"


def test_a_name_node_that_says_no_has_refused(behind: Line) -> None:
    fs, _, base = behind
    fs.write_new(base.child("file"), b"x")
    with pytest.raises(ExternalFailure) as error:
        HdfsFileSystem(base.authority, user="alice").rename(
            base.child("source"), base.child("target")
        )
    assert (error.value.code, error.value.retryable) == ("fs.refused", False)
