"""Brings to rest what a restore left half done: the settle table backwards, always forward.

M = registered with our mark, S = the live place holds data, D = the item is in the backup.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum

from lifecycle.backup.engine.files.live_place import is_taken
from lifecycle.backup.engine.journal.reading import (
    JournalBatch,
    RestoreStep,
    names_by_batch,
    read_batch,
    read_known_batch,
    restore_steps,
)
from lifecycle.backup.engine.journal.records import BatchDone, Outcome, files_of, shortfall
from lifecycle.backup.engine.metastore.extras_return import return_extras
from lifecycle.backup.engine.metastore.returned import notify_returned
from lifecycle.backup.engine.restore.register import (
    confirm,
    register,
    registered_as_ours,
    restore_done,
)
from lifecycle.backup.engine.settle.batches import SettleTools, stuck, write_done
from lifecycle.backup.engine.settle.undos import undo_to_rest
from portal.lake.errors import DataSafetyError, PortalError
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from portal.lake.paths import LakePath


class Return(StrEnum):
    """What an item of a restore step is found in."""

    NOTHING_HAPPENED = "NOTHING_HAPPENED"
    MOVED = "MOVED"
    RESTORED = "RESTORED"
    PLACE_TAKEN = "PLACE_TAKEN"
    DANGER = "DANGER"


_TABLE = {
    (False, False, True): Return.NOTHING_HAPPENED,
    (False, True, False): Return.MOVED,
    (True, True, False): Return.RESTORED,
    (False, True, True): Return.PLACE_TAKEN,
}


def decide_return(
    *, is_ours: bool, has_live: bool, has_backup: bool, is_short: bool = False
) -> Return:
    """Decide what M, S, D mean; `is_short` says that the only copy lacks files of its manifest."""
    if is_short:
        return Return.DANGER
    return _TABLE.get((is_ours, has_live, has_backup), Return.DANGER)


def settle_restores(
    directory: LakePath, tools: SettleTools, *, known: Mapping[int, str] | None = None
) -> dict[str, int]:
    """Settle every restore intent without done in a released directory; counts by outcome.

    `known` has the checksums of the manifests as the catalogue knows them, by batch; None where
    there is no catalogue. Nothing is registered from a manifest that is another one or not known.

    Raises:
        DataSafetyError: `act.lost` once everything else has been settled.
    """
    counts: dict[str, int] = {}
    danger: list[str] = []
    for number, names in sorted(names_by_batch(tools.fs.names(directory)).items()):
        try:
            waiting = _unsettled(directory, number, tools, names=names, known=known)
        except DataSafetyError as error:
            danger.append(f"batch {number} ({error.message.rstrip('.')})")
            continue
        for batch, step in waiting:
            try:
                done = _settle_step(batch, step, tools)
            except PortalError as error:
                danger.append(f"{step.stem} of {stuck(error, _name(batch, step))}")
                continue
            if done is None:
                danger.append(step.stem)
                continue
            for item in done.items:
                counts[item.outcome] = counts.get(item.outcome, 0) + 1
    if danger:
        raise DataSafetyError(
            "act.lost",
            f"{len(danger)} restore steps cannot be brought to rest: {', '.join(danger[:20])}. "
            "Compare them with the lake, repair it by hand, and then settle the run again with "
            "manage.py settle_run.",
            directory=directory,
        )
    return counts


def _settle_step(batch: JournalBatch, step: RestoreStep, tools: SettleTools) -> BatchDone | None:
    """Bring one step to rest and write what became of it; None where data is in danger."""
    rest = undo_to_rest if step.intent.undoes else _bring_to_rest
    outcomes = rest(batch, step, tools)
    if outcomes is None:
        return None
    done = restore_done(step.intent, batch, outcomes, at=tools.now.isoformat(), writer="settle")
    notify_returned(tools.metastore, _name(batch, step), done)
    write_done(tools.fs, batch.directory.child(f"{step.stem}.done.json"), done)
    return done


def _name(batch: JournalBatch, step: RestoreStep) -> TableName:
    return TableName(LakeId(batch.intent.lake), step.intent.db, step.intent.table)


def _unsettled(
    directory: LakePath,
    number: int,
    tools: SettleTools,
    *,
    names: Sequence[str],
    known: Mapping[int, str] | None,
) -> list[tuple[JournalBatch, RestoreStep]]:
    """Read the steps of a batch that are not settled, each with the batch's manifest."""
    steps = restore_steps(tools.fs, directory, number, names=names)
    waiting = [step for step in steps if step.done is None]
    if not waiting:
        return []
    if known is None:
        batch = read_batch(tools.fs, directory, number)
    elif number in known:
        batch = read_known_batch(tools.fs, directory, number, sha256=known[number])
    else:
        raise DataSafetyError(
            "backup.unknown",
            f"The catalogue does not know batch {number}. Run manage.py rebuild_backups first.",
            path=directory,
        )
    return [(batch, step) for step in waiting]


def _bring_to_rest(
    batch: JournalBatch, step: RestoreStep, tools: SettleTools
) -> dict[str, tuple[Outcome, str]] | None:
    """Look at each item and finish what was moved; None where data is in danger."""
    ours = registered_as_ours(tools.metastore, batch, step.intent)
    files = {item.item: item.files for item in batch.intent.items}
    moved: set[str] = set()
    outcomes: dict[str, tuple[Outcome, str]] = {}
    for target in step.intent.items:
        live, home = LakePath.parse(target.target), batch.directory.child(target.item)
        has_backup = tools.fs.status(home) is not None
        place = home if has_backup else live
        found = files_of(tools.lister([place]).get(place, ()), root=place)
        verdict = decide_return(
            is_ours=target.item in ours,
            has_live=is_taken(tools.fs, tools.lister, live, has_backup=has_backup),
            has_backup=has_backup,
            is_short=bool(shortfall(files[target.item], found)),
        )
        match verdict:
            case Return.DANGER:
                return None
            case Return.NOTHING_HAPPENED:
                outcomes[target.item] = (Outcome.SKIPPED, "nothing happened; still in the backup")
            case Return.PLACE_TAKEN:
                outcomes[target.item] = (Outcome.CONFLICT, "new data is at the old place")
            case _:
                moved.add(target.item)
    if moved:
        register(tools.metastore, batch, step.intent, only=frozenset(moved - ours))
        said = return_extras(tools.metastore, batch, step.intent, only=frozenset(moved))
        sure = confirm(tools.metastore, batch, step.intent, said=said)
        outcomes |= {item: sure[item] for item in moved}
    return outcomes
