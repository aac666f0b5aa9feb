"""How does every acting run end: sealed, settled, and fit to be ingested?"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Any

from portal.act.fence import move_directory
from portal.act.layout import LEASE, BackupRef
from portal.act.move_settle import settle_moves
from portal.act.purge import clear_papers, purged_refs, retire
from portal.act.restore_settle import settle_restores
from portal.act.selectors import open_fences, red_button_state
from portal.act.services.reach import Place, check_ended, settle_tools
from portal.act.settle import SettleTools, settle_directory
from portal.act.states import FenceKind
from portal.lake.errors import NotVisible, StaleState
from portal.lake.paths import LakePath
from portal.runs.models import Run


def act_settle(
    run: Run, *, now: datetime, still_approved: Callable[[], bool] | None = None
) -> dict[str, Any]:
    """Seal a run's fences and settle every intent without done; gives counts. Twice = the same.

    `still_approved` decides whether a half-done drop is finished or taken back; without an answer,
    with the red button or a cancel it is taken back.

    Raises:
        ExternalFailure: `act.alive`, retryable: the run's application has not ended yet.
        DataSafetyError: data is where no step could have put it.
    """
    counts: dict[str, int] = {}
    for fence in open_fences(run.pk):
        check_ended(run, fence, now=now)
        place = Place.of(fence)
        _seal(place)
        may_finish = (
            still_approved is not None
            and not run.cancel_requested_by
            and red_button_state(run.lake) is None
            and still_approved()
        )
        with settle_tools(place, now=now, may_finish=may_finish) as tools:
            for directory in place.at_rest():
                if place.fs.status(directory) is None:
                    continue
                found = _settle(FenceKind(fence.kind), directory, tools)
                for outcome, n in found.items():
                    counts[str(outcome)] = counts.get(outcome, 0) + n
        _tidy(place)
        fence.closed_at = now
        fence.save(update_fields=["closed_at"])
    return counts


def _settle(kind: FenceKind, directory: LakePath, tools: SettleTools) -> dict[str, int]:
    if kind is FenceKind.MOVE:
        return settle_moves(directory, tools)
    found = settle_directory(directory, tools)
    if kind is FenceKind.RESTORE:
        found |= settle_restores(directory, tools)
    return found


def _seal(place: Place) -> None:
    """Take the run's directories out from behind its fence; a zombie's next move then fails."""
    if place.fence.kind in (FenceKind.DROP, FenceKind.MOVE):
        (sealed,) = place.at_rest()
        if place.fs.status(place.path) is not None:
            move_directory(place.fs, place.path, sealed)
        _forget_lease(place, in_sealed=True)
        return
    if place.fence.kind == FenceKind.PURGE:
        _note_purged(place)
    for ref in place.claims:
        if place.fs.status(place.claimed(ref)) is not None:
            move_directory(place.fs, place.claimed(ref), place.sealed(ref))
    _forget_lease(place, in_sealed=False)
    place.fs.remove_empty_directory(place.path)


def _note_purged(place: Place) -> None:
    """Store which backups were proven empty, then remove their papers: the row is what is left."""
    for ref in place.claims:
        if place.fs.status(place.claimed(ref)) is not None:
            retire(place.fs, place.claimed(ref))
    refs = purged_refs(place.fs, place.path)
    for claim in place.fence.claims:
        if BackupRef(claim["run"], claim["epoch"]) in refs:
            claim["purged"] = True
    place.fence.save(update_fields=["claims"])
    for ref in refs:
        clear_papers(place.fs, place.path, ref)


def _tidy(place: Place) -> None:
    """Take away the run's own directories where they are empty; the day's are shared and stay."""
    own = [place.path.parent]
    if place.fence.kind == FenceKind.PURGE:
        own += [directory.parent for directory in place.at_rest()]
    for directory in own:
        with suppress(StaleState):
            place.fs.remove_empty_directory(directory)


def _forget_lease(place: Place, *, in_sealed: bool) -> None:
    directory = place.at_rest()[0] if in_sealed else place.path
    try:
        place.fs.remove_file(directory.child(LEASE))
    except NotVisible:
        return
