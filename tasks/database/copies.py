"""A backup of the portal's database: a folder with the dump, the audit anchors and a manifest."""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from portal.audit.services import audit_verify
from portal.lake.errors import RuleViolation
from tasks.database.dumping import dump_database, load_dump, row_counts, sha256_of

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
        migrations=applied_migrations(),
        sha256={one.name: sha256_of(one) for one in files},
    )
    unfinished = target / f"{MANIFEST}.new"
    unfinished.write_text(json.dumps(asdict(found), indent=1, sort_keys=True), encoding="utf-8")
    unfinished.replace(target / MANIFEST)
    return found


def copy_read(source: Path) -> Manifest:
    """Read the manifest of a backup and compare the checksums of its files.

    Raises:
        RuleViolation: `database.copy`, it is no whole backup of a format that is known.
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
    return found


def copy_load(source: Path, manifest: Manifest) -> int:
    """Replace the database by a backup and compare it; return the number of audit events.

    Raises:
        RuleViolation: `database.copy`, what was loaded is not what was backed up.
        ExternalFailure: `database.dump`.
    """
    load_dump(source / DUMP)
    if (rows := row_counts()) != manifest.rows:
        other = sorted({*rows.items()} ^ {*manifest.rows.items()})
        raise _refused(f"Other numbers of rows than in the manifest: {other[:5]}.")
    if applied_migrations() != manifest.migrations:
        raise _refused("Other migrations than in the manifest.")
    report = audit_verify()
    if report.broken_at is not None:
        raise _refused(f"The audit record in the backup is broken: {report.problem}.")
    return report.n_events


def applied_migrations() -> list[str]:
    """Return the migrations that the database has, by app and name."""
    return sorted(
        f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations()
    )


def _refused(message: str) -> RuleViolation:
    return RuleViolation("database.copy", message)
