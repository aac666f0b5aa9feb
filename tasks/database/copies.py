"""A backup of the portal's database: a folder with the dump, the audit anchors and a manifest."""

import json
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection

from portal.access.lakes import all_lakes
from portal.audit.services import audit_verify
from portal.lake.errors import RuleViolation
from portal.servers.release import applied_migrations
from tasks.database.aftermath import Aftermath, stand_still
from tasks.database.dumping import (
    LOADS,
    client_program,
    drop_tables,
    dump_database,
    load_dump,
    row_counts,
    sha256_of,
)
from tasks.database.releases import check_release, migrate_restored

FORMAT = 1
DUMP, ANCHORS, MANIFEST = "portal.sql.gz", "audit_anchors.jsonl", "manifest.json"


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup has; written last, so a folder without it is no backup."""

    format: int
    taken_at: str
    rows: dict[str, int]
    migrations: list[str]
    sha256: dict[str, str]


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a database is that was loaded from a backup."""

    problem: str
    """In what it is not what was backed up; empty where it is."""
    n_events: int
    aftermath: Aftermath


def copy_write(target: Path, *, now: datetime) -> Manifest:
    """Write a backup into a new folder.

    Raises:
        RuleViolation: `database.copy`, the folder exists, or the database is not MariaDB.
        ExternalFailure: `database.dump`.
    """
    if connection.vendor != "mysql":
        raise _refused("Only MariaDB is backed up by this command; of SQLite copy the file.")
    if target.exists():
        raise _refused(f"{target} exists. Name a folder that does not, one for each backup.")
    target.mkdir(mode=0o700, parents=True)
    rows = dump_database(target / DUMP)
    with suppress(FileNotFoundError):
        shutil.copyfile(settings.LAKEWARDEN_AUDIT_ANCHORS, target / ANCHORS)
    files = sorted(one for one in target.iterdir() if one.name != MANIFEST)
    found = Manifest(
        format=FORMAT,
        taken_at=now.isoformat(timespec="seconds"),
        rows=rows,
        migrations=_names(),
        sha256={one.name: sha256_of(one) for one in files},
    )
    unfinished = target / f"{MANIFEST}.new"
    unfinished.write_text(json.dumps(asdict(found), indent=1, sort_keys=True), encoding="utf-8")
    unfinished.replace(target / MANIFEST)
    return found


def copy_read(source: Path) -> Manifest:
    """Read the manifest of a backup and compare the checksums of its files.

    Raises:
        RuleViolation: `database.copy`, it is no whole backup of a format that is known;
            `database.release`, this release cannot work on it.
    """
    try:
        found = Manifest(**json.loads((source / MANIFEST).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise _refused(f"{source} is no backup: its {MANIFEST} cannot be read.") from error
    if found.format != FORMAT:
        raise _refused(f"{source} has format {found.format}; this version reads {FORMAT}.")
    for name, wanted in found.sha256.items():
        file = source / name
        if not file.is_file() or sha256_of(file) != wanted:
            raise _refused(f"{file} is missing or damaged. Take another backup.")
    parted = (one.partition(".") for one in found.migrations)
    check_release([(app, name) for app, _, name in parted])
    return found


def check_loadable() -> None:
    """Make sure before anything is replaced that a backup can be loaded here.

    Raises:
        RuleViolation: `database.copy`, the database is not MariaDB, or lakes.json cannot be read.
        ExternalFailure: `database.dump`, MariaDB's client program is missing.
    """
    if connection.vendor != "mysql":
        raise _refused("Only MariaDB is restored by this command; of SQLite copy the file.")
    client_program(LOADS)
    all_lakes()  # each of them will be stopped


def copy_load(source: Path, manifest: Manifest, *, now: datetime) -> Loaded:
    """Replace the database by a backup of this release or a former one, and have it stand still.

    It is compared, migrated to this release, and kept from going on by itself, also where it is
    not what was backed up. Where that cannot be done the database is left empty: processes that
    are started on it by mistake find no work.

    Raises:
        RuleViolation: `database.copy` or `database.release`, it is left as it was or empty.
        ExternalFailure: `database.dump`; it is left empty.
    """
    if connection.vendor != "mysql":
        raise _refused("Only MariaDB is restored by this command; of SQLite copy the file.")
    all_lakes()  # each of them is stopped below: a file that cannot be read is said before
    with _empty_unless_done():
        load_dump(source / DUMP)
        problem = _difference(manifest)
        migrate_restored()
        report = audit_verify()
        if report.broken_at is not None:
            problem = f"{problem} The audit record is broken: {report.problem}.".lstrip()
        found = stand_still(taken_at=manifest.taken_at, now=now)
    return Loaded(problem, report.n_events, found)


@contextmanager
def _empty_unless_done() -> Iterator[None]:
    """Empty the database if the block does not reach its end."""
    with ExitStack() as undo:
        undo.callback(drop_tables)
        yield
        undo.pop_all()


def _difference(manifest: Manifest) -> str:
    """Say in what a database that was just loaded is not what was backed up."""
    if (rows := row_counts()) != manifest.rows:
        other = sorted({*rows.items()} ^ {*manifest.rows.items()})
        return f"Other numbers of rows than in the manifest: {other[:5]}."
    if sorted(_names()) != sorted(manifest.migrations):
        return "Other migrations than in the manifest."
    return ""


def _names() -> list[str]:
    """Return the migrations that the database has, as they were applied."""
    return [f"{app}.{name}" for app, name in applied_migrations()]


def _refused(message: str) -> RuleViolation:
    return RuleViolation("database.copy", message)
