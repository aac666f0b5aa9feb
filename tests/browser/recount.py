"""The same numbers a second way: SQL on the metastore's database, `find` on the files.

Nothing of the portal is imported here: this is the witness against it.
"""

import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

STILL_READ = timedelta(days=30)
SOON = timedelta(days=7)

TABLES = """
SELECT d.NAME || '|' || t.TBL_NAME || '|' || t.TBL_TYPE
  || '|' || TRIM(CAST(t.CREATE_TIME AS CHAR(12)))
FROM APP.TBLS t JOIN APP.DBS d ON d.DB_ID = t.DB_ID ORDER BY d.NAME, t.TBL_NAME
"""
PARTITION_NAMES = """
SELECT d.NAME || '|' || t.TBL_NAME || '|' || p.PART_NAME FROM APP.PARTITIONS p
  JOIN APP.TBLS t ON t.TBL_ID = p.TBL_ID JOIN APP.DBS d ON d.DB_ID = t.DB_ID
"""
PARTITIONS = """
SELECT p.PART_NAME || '|' || TRIM(CAST(p.CREATE_TIME AS CHAR(12))) || '|'
  || COALESCE((SELECT q.PARAM_VALUE FROM APP.PARTITION_PARAMS q
      WHERE q.PART_ID = p.PART_ID AND q.PARAM_KEY = 'transient_lastDdlTime'), '0')
  || '|' || s.LOCATION
FROM APP.PARTITIONS p JOIN APP.SDS s ON s.SD_ID = p.SD_ID
  JOIN APP.TBLS t ON t.TBL_ID = p.TBL_ID JOIN APP.DBS d ON d.DB_ID = t.DB_ID
WHERE d.NAME = '{db}' AND t.TBL_NAME = '{table}' ORDER BY p.PART_NAME
"""
TTL = """
SELECT 'ttl|' || q.PARAM_KEY || '|' || CAST(q.PARAM_VALUE AS VARCHAR(64))
FROM APP.TABLE_PARAMS q JOIN APP.TBLS t ON t.TBL_ID = q.TBL_ID JOIN APP.DBS d ON d.DB_ID = t.DB_ID
WHERE d.NAME = '{db}' AND t.TBL_NAME = '{table}' AND q.PARAM_KEY IN ('TTL', 'ttl')
"""


@dataclass(frozen=True)
class Files:
    """What `find` saw below a directory: the newest times over everything, the sum of the files."""

    newest: float
    read: float
    n_files: int
    n_bytes: int


@dataclass(frozen=True)
class Counted:
    """One partition, judged by hand."""

    name: str
    updated: float
    files: Files
    ttl_days: int

    def is_due(self, now: datetime) -> bool:
        """Whether its time to live is over."""
        return self.updated + self.ttl_days * 86_400 <= now.timestamp()

    def is_still_read(self, now: datetime) -> bool:
        """Whether somebody read it lately, and after it was written."""
        was_read = self.files.read > self.files.newest
        return was_read and self.files.read > (now - STILL_READ).timestamp()


def local(location: str) -> Path:
    """Return the path of a location on local files; metastore locations are not URL-encoded."""
    return Path("/" + location.removeprefix("file:").lstrip("/"))


def find(directory: Path) -> Files:
    """Ask `find` about everything below a directory."""
    done = subprocess.run(
        ["find", str(directory), "-printf", r"%y %T@ %A@ %s\n"],
        capture_output=True,
        text=True,
        check=True,
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    files = [row for row in rows if row[0] == "f"]
    return Files(
        newest=max(float(row[1]) for row in rows),
        read=max((float(row[2]) for row in files), default=0.0),
        n_files=len(files),
        n_bytes=sum(int(row[3]) for row in files),
    )


def listing(directories: Iterable[Path]) -> dict[str, list[str]]:
    """Return every entry below each directory: kind, name, size, time, owner, group, mode."""
    found = {}
    for directory in directories:
        done = subprocess.run(
            ["find", str(directory), "-printf", r"%y|%P|%s|%T@|%u|%g|%m\n"],
            capture_output=True,
            text=True,
            check=False,
        )
        # A directory's own size is the file system's business.
        rows = (line.split("|") for line in done.stdout.splitlines())
        found[str(directory)] = sorted(
            "|".join([*row[:2], "" if row[0] == "d" else row[2], *row[3:]]) for row in rows
        )
    return found


def counted(rows: Iterable[list[str]], *, ttl_days: int) -> list[Counted]:
    """Judge the rows of PARTITIONS by hand."""
    found = []
    for name, created, ddl, location in rows:
        files = find(local(location))
        updated = max(float(ddl) or float(created), files.newest)
        found.append(Counted(name, updated, files, ttl_days))
    return found
