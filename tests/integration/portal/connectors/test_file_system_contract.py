"""The promises of the file system port, on local files and on a real HDFS: the same cases."""

import uuid
from pathlib import Path
from typing import Any

import pytest

from portal.connectors.filesystem import FileSystem, open_file_system
from portal.connectors.local_filesystem import LocalFileSystem
from portal.lake.errors import ExternalFailure, NotVisible, PortalError, StaleState
from portal.lake.paths import LakePath

Place = tuple[FileSystem, LakePath]
ODD = "f=1 %20 é #?"


@pytest.fixture(params=["local", "hdfs"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A file system and an empty directory on it."""
    if request.param == "local":
        fs: FileSystem = LocalFileSystem()
        base = LakePath.parse(str(tmp_path / "base"))
    else:
        config = request.getfixturevalue("full_stack").config("main")
        base = config.path(f"/tmp/contract-{uuid.uuid4().hex}")
        fs = open_file_system(base, config=config)
    fs.make_directories(base, mode=0o755)
    return fs, base


def code_of(error: pytest.ExceptionInfo[Any]) -> str:
    assert isinstance(error.value, PortalError)
    return error.value.code


def test_a_new_directory_has_exactly_its_mode_and_one_maker(place: Place) -> None:
    fs, base = place
    fs.make_directory(base.child(ODD), mode=0o711)
    found = fs.status(base.child(ODD))
    assert found is not None
    assert found.is_dir
    assert found.mode == 0o711
    with pytest.raises(StaleState) as again:
        fs.make_directory(base.child(ODD), mode=0o711)
    assert code_of(again) == "fs.exists"
    with pytest.raises(StaleState) as orphan:
        fs.make_directory(base.child("none", "below"), mode=0o711)
    assert code_of(orphan) == "fs.parent_missing"
    assert [status.path for status in fs.children(base)] == [base.child(ODD)]


def test_make_directories_leaves_what_exists(place: Place) -> None:
    fs, base = place
    fs.make_directories(base.child("a", "b"), mode=0o700)
    fs.make_directories(base.child("a", "b", "c"), mode=0o755)
    modes = {status.path.name: status.mode for status in fs.walk(base.child("a"))}
    assert modes == {"a": 0o700, "b": 0o700, "c": 0o755}


def test_what_is_missing_is_said_so(place: Place) -> None:
    fs, base = place
    assert fs.status(base.child("none")) is None
    for call in (fs.children, fs.read, lambda path: list(fs.walk(path))):
        with pytest.raises(NotVisible) as error:
            call(base.child("none"))
        assert code_of(error) == "fs.missing"
    fs.remove_file(base.child("none"))
    fs.remove_empty_directory(base.child("none"))


def test_a_new_file_is_whole_and_never_written_twice(place: Place) -> None:
    fs, base = place
    fs.write_new(base.child(ODD), b"first")
    with pytest.raises(StaleState) as error:
        fs.write_new(base.child(ODD), b"second")
    assert code_of(error) == "fs.exists"
    assert fs.read(base.child(ODD)) == b"first"
    assert fs.read(base.child(ODD), n_bytes=2) == b"fi"
    assert fs.read(base.child(ODD), n_bytes=9) == b"first"
    fs.replace(base.child(ODD), b"")
    assert fs.read(base.child(ODD)) == b""
    for write in (fs.write_new, fs.replace):
        with pytest.raises(StaleState) as orphan:
            write(base.child("none", "file"), b"x")
        assert code_of(orphan) == "fs.parent_missing"
    assert len(fs.children(base)) == 1


@pytest.mark.parametrize("target_kind", ["file", "directory", "empty directory"])
def test_a_rename_never_replaces_nor_moves_into(place: Place, target_kind: str) -> None:
    fs, base = place
    fs.make_directory(base.child("source"), mode=0o755)
    fs.write_new(base.child("source", "data"), b"data")
    target = base.child("target")
    if target_kind == "file":
        fs.write_new(target, b"mine")
    else:
        fs.make_directory(target, mode=0o755)
        if target_kind == "directory":
            fs.write_new(target.child("mine"), b"mine")
    before = [status.path for status in fs.walk(base)]
    with pytest.raises(StaleState) as error:
        fs.rename(base.child("source"), target)
    assert code_of(error) == "fs.exists"
    assert [status.path for status in fs.walk(base)] == before


def test_a_rename_makes_no_parent_and_leaves_the_source(place: Place) -> None:
    fs, base = place
    fs.write_new(base.child("source"), b"data")
    with pytest.raises(StaleState) as error:
        fs.rename(base.child("source"), base.child("none", "target"))
    assert code_of(error) == "fs.parent_missing"
    assert fs.read(base.child("source")) == b"data"
    with pytest.raises(StaleState) as gone:
        fs.rename(base.child("nothing"), base.child("target"))
    assert code_of(gone) == "fs.missing"


def test_a_rename_into_a_sealed_fence_fails(place: Place) -> None:
    """Takeover renames open/<epoch> away: the zombie's next move must fail, its source intact."""
    fs, base = place
    fs.make_directories(base.child("open", "1"), mode=0o700)
    fs.make_directory(base.child("sealed"), mode=0o700)
    fs.make_directory(base.child("item"), mode=0o755)
    fs.rename(base.child("open", "1"), base.child("sealed", "1"))
    with pytest.raises(StaleState) as error:
        fs.rename(base.child("item"), base.child("open", "1", "item"))
    assert code_of(error) == "fs.parent_missing"
    assert fs.status(base.child("item")) is not None


def test_a_rename_keeps_times_modes_and_owners_of_the_whole_tree(place: Place) -> None:
    fs, base = place
    fs.make_directories(base.child("t", "dt=1"), mode=0o751)
    fs.write_new(base.child("t", "dt=1", "part-0"), b"12345")
    fs.set_mode(base.child("t", "dt=1", "part-0"), 0o640)
    fs.set_modified(base.child("t", "dt=1"), 1_700_000_000_123)
    assert _mtime(fs, base.child("t", "dt=1")) == 1_700_000_000_123
    fs.set_modified(base.child("t", "dt=1", "part-0"), 1_700_000_000_456)
    assert _mtime(fs, base.child("t", "dt=1", "part-0")) == 1_700_000_000_456

    def facts(root: LakePath) -> list[tuple[object, ...]]:
        return [
            (str(s.path)[len(str(root)) :], s.is_dir, s.size, s.mtime_ms, s.mode, s.owner, s.group)
            for s in fs.walk(root)
        ]

    before = facts(base.child("t"))
    fs.rename(base.child("t"), base.child("u"))
    assert facts(base.child("u")) == before


def test_walking_is_sorted_parents_first(place: Place) -> None:
    fs, base = place
    for name in ("b", "a"):
        fs.make_directory(base.child(name), mode=0o755)
        fs.write_new(base.child(name, "f"), b"x")
    names = [str(status.path)[len(str(base)) :] for status in fs.walk(base)]
    assert names == ["", "/a", "/a/f", "/b", "/b/f"]


def test_only_what_was_asked_is_removed(place: Place) -> None:
    fs, base = place
    fs.make_directory(base.child("d"), mode=0o755)
    fs.write_new(base.child("d", "f"), b"x")
    with pytest.raises(StaleState) as error:
        fs.remove_empty_directory(base.child("d"))
    assert code_of(error) == "fs.not_empty"
    with pytest.raises(PortalError):
        fs.remove_file(base.child("d"))
    fs.remove_file(base.child("d", "f"))
    fs.remove_empty_directory(base.child("d"))
    assert fs.children(base) == []


def test_listing_a_file_is_refused(place: Place) -> None:
    fs, base = place
    fs.write_new(base.child("f"), b"x")
    with pytest.raises(ExternalFailure):
        fs.children(base.child("f"))


def test_hdfs_keeps_owner_group_and_acl(full_stack: Any) -> None:
    config = full_stack.config("main")
    base = config.path(f"/tmp/contract-{uuid.uuid4().hex}")
    fs = open_file_system(base, config=config)
    fs.make_directories(base, mode=0o750)
    fs.set_owner(base, "alice", "analysts")
    acl = ("access:user:bob:r-x", "access:group::r-x")
    fs.set_acl(base, acl)
    found = fs.status(base)
    assert found is not None
    assert (found.owner, found.group, found.mode) == ("alice", "analysts", 0o750)
    assert found.acl == acl
    fs.set_acl(base, ())
    cleared = fs.status(base)
    assert cleared is not None
    assert cleared.acl == ()


def _mtime(fs: FileSystem, path: LakePath) -> int:
    status = fs.status(path)
    assert status is not None
    return status.mtime_ms
