"""The program beside a backup: alone in the world, and careful in every state of an item."""

import ast
import itertools
import runpy
import sys
from pathlib import Path

import pytest

from lifecycle.backup.jobs.papers import restore_program
from lifecycle.backup.jobs.restore_backup import (
    MOVE,
    REFUSED,
    REGISTER,
    RESTORE,
    THERE,
    TO_DO,
    Backup,
    RefusedError,
    decide,
)
from lifecycle.backup.jobs.restore_files import Fact, compare
from portal.lake.paths import LakePath

PLACE = LakePath.parse("hdfs://nn:8020/backup root/2026-11-22/sealed/abc/1")
TEXT = restore_program(backup=PLACE, metastore="thrift://meta:9083")


def test_it_needs_nothing_but_spark_and_an_old_python() -> None:
    tree = ast.parse(TEXT, feature_version=(3, 8))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        for name in (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    }
    assert names - set(sys.stdlib_module_names) == {"pyspark", "py4j"}


def test_it_knows_its_backup_and_says_what_to_do(tmp_path: Path) -> None:
    program = tmp_path / "restore_backup.py"
    program.write_text(TEXT)
    space = runpy.run_path(str(program))
    assert space["BACKUP"] == str(PLACE)
    assert space["METASTORE"] == "thrift://meta:9083"
    assert "--dry-run" in (ast.get_docstring(ast.parse(TEXT)) or "")


@pytest.mark.parametrize(
    ("has_backup", "has_live", "is_whole", "registered", "action"),
    [
        (True, False, True, "", RESTORE),
        (True, False, True, "same", MOVE),
        (True, False, True, "ours", MOVE),
        (True, False, True, "other", REFUSED),
        (True, False, False, "", REFUSED),
        (True, True, True, "", REFUSED),
        (True, True, True, "ours", REFUSED),
        (False, True, True, "", REGISTER),
        (False, True, False, "", REFUSED),
        (False, True, True, "ours", THERE),
        (False, True, False, "ours", THERE),
        (False, True, True, "same", THERE),
        (False, True, True, "other", REFUSED),
        (False, False, False, "", REFUSED),
    ],
)
def test_what_is_done_with_an_item(
    has_backup: bool, has_live: bool, is_whole: bool, registered: str, action: str
) -> None:
    said, reason = decide(
        has_backup=has_backup, has_live=has_live, is_whole=is_whole, registered=registered
    )
    assert said == action
    assert bool(reason) is (action not in TO_DO)


def test_nothing_is_ever_done_over_what_stands_or_is_newer() -> None:
    for has_backup, is_whole in itertools.product((True, False), repeat=2):
        for registered in ("", "ours", "same", "other"):
            action, _ = decide(
                has_backup=has_backup, has_live=True, is_whole=is_whole, registered=registered
            )
            assert action not in (RESTORE, MOVE)
        for has_live in (True, False):
            action, _ = decide(
                has_backup=has_backup, has_live=has_live, is_whole=is_whole, registered="other"
            )
            assert action == REFUSED


def test_what_is_short_what_is_set_again_and_what_is_exact() -> None:
    root = Fact("", is_dir=True, size=0, mtime_ms=1, owner="a", group="a", mode=0o750, acl=())
    file = Fact("f", is_dir=False, size=9, mtime_ms=1, owner="a", group="a", mode=0o640, acl=())
    item = {"files": [[*root], [*file]]}
    assert compare(item, [root, file]) == ([], [], True)
    assert compare(item, [root, file, file._replace(path="g")]) == ([], [], False)
    assert compare(item, [root, file._replace(mtime_ms=2)]) == ([], [file], False)
    assert compare(item, [root, file._replace(size=8)]) == (["f"], [], False)
    assert compare(item, [root, file._replace(size=10)]) == ([], [], False)
    assert compare(item, []) == ([".", "f"], [], False)


@pytest.mark.parametrize("root", ["backup", "sealed/backup", "x/sealed/y"])
def test_it_leaves_a_backup_alone_in_which_the_portal_works(tmp_path: Path, root: str) -> None:
    sealed = f"file://{tmp_path}/{root}/2026-11-22/sealed/abc/1"
    fence = tmp_path / root / "2026-11-22" / "open" / "abc" / "1"
    with pytest.raises(RefusedError, match="is not there"):
        Backup(None, sealed, "")
    fence.mkdir(parents=True)
    (fence / "lease.json").write_text('{"until": "2999-01-01T00:00:00+00:00"}')
    for place in (sealed, f"file://{fence}", f"file://{fence}/"):
        with pytest.raises(RefusedError, match="A run of the portal works in"):
            Backup(None, place, "")
