"""Ends an acting run: seals its fences and settles what it left half done."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.purge.batches import clear_papers, purged_refs, retire
from lifecycle.backup.engine.settle.batches import SettleTools, settle_directory
from lifecycle.backup.engine.settle.moves import settle_moves
from lifecycle.backup.engine.settle.restores import settle_restores
from lifecycle.backup.selectors import manifests_of, open_fences
from lifecycle.backup.services.reach import Place, settle_tools
from portal.lake.errors import DataSafetyError, NotVisible, StaleState
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.safety.ended import check_ended
from portal.safety.fence import LEASE, move_directory
from portal.safety.selectors import emergency_stop_state


def act_settle(
    run: Run, *, now: datetime, still_approved: Callable[[], bool] | None = None
) -> dict[str, Any]:
    """Seal all of a run's fences, then settle each intent without done; gives counts by outcome.

    Twice = the same. A fence in danger stays open, so that settling again looks at it again.

    `still_approved` decides whether a half-done drop is finished or taken back; without an answer,
    with the emergency stop or a cancel it is taken back.

    Raises:
        ExternalFailure: `act.alive`, retryable: the run's application has not ended yet.
        DataSafetyError: data is where no step could have put it; everything else is at rest.
    """
    places = []
    for fence in open_fences(run.pk):
        check_ended(run, fence, now=now)
        places.append(Place.of(fence))
    danger = [error for place in places for error in _seal(place)]
    counts: dict[str, int] = {}
    for place in places:
        may_finish = (
            still_approved is not None
            and not run.cancel_requested_by
            and emergency_stop_state(run.lake) is None
            and still_approved()
        )
        with settle_tools(place, now=now, may_finish=may_finish) as tools:
            found, lost = _settle_place(place, tools)
        for outcome, n in found.items():
            counts[outcome] = counts.get(outcome, 0) + n
        danger += lost
        if not lost:
            _tidy(place)
            place.fence.closed_at = now
            place.fence.save(update_fields=["closed_at"])
    if danger:
        raise _all_of(danger)
    return counts


def _settle_place(place: Place, tools: SettleTools) -> tuple[dict[str, int], list[DataSafetyError]]:
    """Settle each directory of a fence; one in danger does not keep the others from their end."""
    counts: dict[str, int] = {}
    danger: list[DataSafetyError] = []
    for directory in place.at_rest():
        if place.fs.status(directory) is None:
            continue
        try:
            found = _settle(place, directory, tools)
        except DataSafetyError as error:
            danger.append(error)
            continue
        for outcome, n in found.items():
            counts[str(outcome)] = counts.get(outcome, 0) + n
    return counts, danger


def _all_of(danger: Sequence[DataSafetyError]) -> DataSafetyError:
    """Return one error for all of them: the first one's code, and everybody's words."""
    first = danger[0]
    if len(danger) == 1:
        return first
    return DataSafetyError(first.code, " ".join(error.message for error in danger), **first.fields)


def _settle(place: Place, directory: LakePath, tools: SettleTools) -> dict[str, int]:
    if place.fence.kind == FenceKind.MOVE:
        return settle_moves(directory, tools)
    found = settle_directory(directory, tools)
    if place.fence.kind == FenceKind.RESTORE:
        refs = {place.sealed(ref): ref for ref in place.claims}
        known = manifests_of(place.fence.lake, refs[directory])
        found |= settle_restores(directory, tools, known=known)
    return found


def _seal(place: Place) -> list[DataSafetyError]:
    """Take the run's directories out from behind its fence; a zombie's next move then fails.

    Gives what kept a backup from being judged; it is taken out all the same.
    """
    if place.fence.kind in (FenceKind.DROP, FenceKind.MOVE):
        (sealed,) = place.at_rest()
        if place.fs.status(place.path) is not None:
            move_directory(place.fs, place.path, sealed)
        _forget_lease(place, in_sealed=True)
        return []
    danger = _note_purged(place) if place.fence.kind == FenceKind.PURGE else []
    for ref in place.claims:
        if place.fs.status(place.claimed(ref)) is not None:
            move_directory(place.fs, place.claimed(ref), place.sealed(ref))
    _forget_lease(place, in_sealed=False)
    place.fs.remove_empty_directory(place.path)
    return danger


def _note_purged(place: Place) -> list[DataSafetyError]:
    """Store which backups were proven empty, then remove their papers: the row is what is left."""
    danger = []
    for ref in place.claims:
        if place.fs.status(place.claimed(ref)) is not None:
            try:
                retire(place.fs, place.claimed(ref))
            except DataSafetyError as error:
                danger.append(error)
    refs = purged_refs(place.fs, place.path)
    for claim in place.fence.claims:
        if BackupRef(claim["run"], claim["epoch"]) in refs:
            claim["purged"] = True
    place.fence.save(update_fields=["claims"])
    for ref in refs:
        clear_papers(place.fs, place.path, ref)
    return danger


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
