"""Tests the mode of the embedded database's files."""

import sqlite3
from contextlib import closing
from pathlib import Path

from portal.settings.databases import sqlite_database


def test_the_embedded_database_is_for_its_own_account_alone(tmp_path: Path) -> None:
    file = tmp_path / "portal.sqlite3"
    sqlite_database(file)
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)  # as an earlier version made it
    with closing(sqlite3.connect(sqlite_database(file)["NAME"])) as link:
        link.execute("pragma journal_mode=wal")
        link.execute("create table t (a)")
        modes = {one.name: one.stat().st_mode & 0o777 for one in tmp_path.iterdir()}
    assert set(modes.values()) == {0o600}, modes
