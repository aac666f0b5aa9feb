"""Inspects the backup of a table: its schema, counts and partition values.

The web process cannot read the lake, so it is a short run over the manifests: inside a worker, or
by Spark where there are many. Rows of the data are never read: the portal's own user would get past
the rules that mask them for the person who asks.
"""

import hashlib
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from lifecycle.backup.models import BackupBatch
from lifecycle.restore.selectors.backups import BackupChoice, batches_for_user
from lifecycle.restore.services.reading import backup_contents
from portal.access.models import User
from portal.lake.errors import NotVisible, RuleViolation
from portal.runs.domain import ACTIVE
from portal.runs.kinds.registry import RunKind, register
from portal.runs.models import Run
from portal.runs.requests.services import run_request

INSPECT_KIND = "lifecycle.backup_look"
WIDE_INSPECT_KIND = "lifecycle.backup_look_wide"
# From so many manifests on Spark reads them: a worker's run must end within 5 minutes.
WIDE_FROM = 200
MAX_BATCHES = 20_000
_SUBJECT = "backup_table"


@dataclass(frozen=True, slots=True)
class BackupOfTable:
    """The backup of one table of one day."""

    day: date
    db: str
    table: str

    @property
    def words(self) -> str:
        """What is meant, for people."""
        return f"{self.db}.{self.table} of {self.day}"


def backup_inspection_request(lake: str, what: BackupOfTable, *, user: User, now: datetime) -> Run:
    """Have a table's backup looked into; asked again while it runs, the same run.

    Raises:
        NotVisible: there is none for this person.
        RuleViolation: it has more batches than one look can add up.
    """
    batches = _batches(lake, what, user)
    if len(batches) > MAX_BATCHES:
        raise RuleViolation(
            "backup.too_big", f"More than {MAX_BATCHES} batches; look into them one by one."
        )
    subject = (_SUBJECT, _fingerprint(what, batches))
    runs = Run.objects.filter(lake=lake, subject_type=_SUBJECT, subject_id=subject[1])
    under_way = runs.filter(state__in=ACTIVE).first()
    if under_way is not None:
        return under_way
    return run_request(
        WIDE_INSPECT_KIND if len(batches) >= WIDE_FROM else INSPECT_KIND,
        lake=lake,
        params={
            "day": what.day.isoformat(),
            "db": what.db,
            "table": what.table,
            "words": what.words,
            "ids": [pk for pk, _ in batches],
        },
        requested_by=user.username,
        reason="Read the contents of a backup.",
        subject=subject,
        now=now,
    )


def backup_look_newest(lake: str, what: BackupOfTable, *, user: User) -> Run | None:
    """Return the newest look into exactly those batches that this person sees now."""
    subject_id = _fingerprint(what, _batches(lake, what, user))
    runs = Run.objects.filter(lake=lake, subject_type=_SUBJECT, subject_id=subject_id)
    return runs.order_by("-queued_at").first()


def _batches(lake: str, what: BackupOfTable, user: User) -> list[tuple[int, int]]:
    choice = BackupChoice(day=what.day, db=what.db, table=what.table)
    rows = choice.of(batches_for_user(lake, user)).order_by("id")
    found = list(rows.values_list("pk", "n_restored")[: MAX_BATCHES + 1])
    if not found:
        raise NotVisible("backup.missing", "There is no such backup, or it is not yours to see.")
    return found


def _fingerprint(what: BackupOfTable, batches: list[tuple[int, int]]) -> str:
    """Name a look by what it saw: other batches, or more restored, are another look."""
    text = f"{what.words} {batches}"
    return hashlib.sha256(text.encode()).hexdigest()


def _rows(run: Run) -> Any:
    return BackupBatch.objects.filter(lake=run.lake, pk__in=run.params["ids"]).order_by("id")


class InspectionRunKind(RunKind):
    """Adds up the manifests of a table's backup inside a worker."""

    name = INSPECT_KIND
    title = "Read the contents of a table's backup"
    queue = "restore"

    def execute(self, run: Run) -> dict[str, Any]:
        """Read the manifests one after the other."""
        return {"contents": backup_contents(_rows(run), lake=run.lake)}


class WideReadKind(RunKind):
    """Adds up the manifests of a big backup with Spark."""

    name = WIDE_INSPECT_KIND
    title = "Read the contents of a table's large backup"
    queue = "restore"
    job = "lifecycle.restore.jobs.inspect_backup"

    def request(self, run: Run) -> dict[str, Any]:
        """Name the manifests with what the catalogue knows of them."""
        rows = _rows(run).values_list("path", "batch", "manifest_sha256")
        return {
            "batches": [{"path": path, "batch": n, "sha256": sha} for path, n, sha in rows],
        }


def register_inspect_kinds() -> None:
    """Tell the platform of the runs of this file."""
    register(InspectionRunKind())
    register(WideReadKind())
