"""The restores and previews of a backup: each one's page is the only place to go on or undo it."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import islice

from lifecycle.restore.services.backups import PREVIEW_KIND, RESTORE_KIND
from lifecycle.restore.services.undo import UNDO_KIND
from portal.access.models import User
from portal.runs.domain import RunState
from portal.runs.models import Run

_SHOWN = 20
_TAKEN_BACK = "Undone"
# A preview does not know its batches by a key: so many of the newest ones are read.
_READ = 500
# A day is one of the lake's zone.
_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class RestoreRow:
    """One preview and how far it went: the last run of preview, restore and undo."""

    preview: Run
    step: str
    last: Run

    @property
    def is_taken_back(self) -> bool:
        """Whether its undo has ended and done something."""
        return self.step == _TAKEN_BACK and self.last.state == RunState.DONE

    @property
    def words(self) -> str:
        """What was asked to be restored."""
        return str(self.preview.params.get("words", ""))


def restores_of(
    lake: str, batch_ids: Collection[str], *, since: date, user: User
) -> list[RestoreRow]:
    """Return the restores that take in one of these batches and that this person may open.

    Newest first; admins and operators see all, others their own. `since` is the day of the backup.
    """
    wanted = set(batch_ids)
    asked = Run.objects.filter(lake=lake, kind=PREVIEW_KIND, queued_at__date__gte=since - _ONE_DAY)
    if not user.is_lake_staff_of(lake):
        asked = asked.filter(requested_by=user.username)
    read = asked.order_by("-queued_at")[:_READ].iterator(chunk_size=100)
    found = (run for run in read if not wanted.isdisjoint(run.params.get("batches", ())))
    previews = list(islice(found, _SHOWN))
    keys = [str(run.pk) for run in previews]
    restores = _by_subject(RESTORE_KIND, "restore_preview", keys)
    undone = _by_subject(UNDO_KIND, "restore", [str(run.pk) for run in restores.values()])
    rows = []
    for preview in previews:
        restore = restores.get(str(preview.pk))
        undo = undone.get(str(restore.pk)) if restore else None
        step = _TAKEN_BACK if undo else "Restore" if restore else "Preview"
        rows.append(RestoreRow(preview, step, undo or restore or preview))
    return rows


def _by_subject(kind: str, subject_type: str, ids: Collection[str]) -> dict[str, Run]:
    """Return the newest run of a kind for each subject."""
    runs = Run.objects.filter(kind=kind, subject_type=subject_type, subject_id__in=ids)
    return {run.subject_id: run for run in runs.order_by("queued_at")}
