"""Brings to rest what a run of moves left half done, item by item.

Purely by what is where: the data lies whole in one of three places (its old one, behind the fence,
its new one), and the metastore names the old place, the new one, or some of both. What no step of
ours could have left is for a person. It may be repeated at any time.
"""

from dataclasses import dataclass
from enum import StrEnum

from lifecycle.backup.engine.journal.reading import JournalBatch
from lifecycle.backup.engine.journal.records import BatchDone, Outcome, files_of, shortfall
from lifecycle.backup.engine.metastore.returned import notify_returned
from lifecycle.backup.engine.move.items import NEW_DATA_WORDS
from lifecycle.backup.engine.move.records import (
    Registered,
    Step,
    move_batches,
    move_done_name,
    repoint,
    structs_for,
)
from lifecycle.backup.engine.settle.batches import (
    SettleTools,
    name_of,
    out_of_place,
    settled,
    stuck,
    write_done,
)
from portal.connectors.file_status import rename_and_look
from portal.lake.errors import PortalError, StaleState
from portal.lake.paths import LakePath


class Lies(StrEnum):
    """What is found at one of an item's three places."""

    NOTHING = "NOTHING"
    WHOLE = "WHOLE"
    OTHER = "OTHER"
    """Something that is not, or not all of, what the intent names."""


class Rest(StrEnum):
    """What an item's state means."""

    NOTHING_HAPPENED = "NOTHING_HAPPENED"
    HALF_DONE = "HALF_DONE"
    DONE = "DONE"
    NEW_DATA = "NEW_DATA"
    FOREIGN = "FOREIGN"
    """Somebody else changed the registration; the data goes back, or lies where it may."""
    DANGER = "DANGER"


def decide_move(registered: Registered, *, source: Lies, home: Lies, target: Lies) -> Rest:
    """Decide what the metadata and the three places mean; whatever is not known is danger."""
    if home is not Lies.NOTHING:
        return _behind_the_fence(registered, source=source, home=home)
    match registered:
        case Registered.OLD if source is Lies.WHOLE and target is not Lies.WHOLE:
            return Rest.NOTHING_HAPPENED
        case Registered.NEW if target is Lies.WHOLE:
            return Rest.DONE if source is Lies.NOTHING else Rest.NEW_DATA
        case Registered.OTHER if Lies.WHOLE in (source, target):
            return Rest.FOREIGN
        case Registered.OLD | Registered.MIXED if target is Lies.WHOLE:
            return Rest.HALF_DONE if source is Lies.NOTHING else Rest.DANGER
        case Registered.NEW | Registered.MIXED if source is Lies.WHOLE:
            return Rest.HALF_DONE if target is Lies.NOTHING else Rest.DANGER
    return Rest.DANGER


def _behind_the_fence(registered: Registered, *, source: Lies, home: Lies) -> Rest:
    """The data is under way: it can go on, or back where its old place is still free."""
    if home is Lies.OTHER or source is not Lies.NOTHING:
        return Rest.DANGER
    return Rest.FOREIGN if registered is Registered.OTHER else Rest.HALF_DONE


@dataclass(frozen=True, slots=True)
class MoveSight:
    """What settle saw of one item."""

    step: Step
    rest: Rest
    home: Lies
    source: Lies
    target: Lies


def settle_moves(directory: LakePath, tools: SettleTools) -> dict[str, int]:
    """Settle every intent without done in a sealed directory of moves; gives counts by outcome.

    Raises:
        DataSafetyError: `act.lost` after everything that is not in danger has been settled.
    """
    counts: dict[str, int] = {}
    danger: list[str] = []
    for batch in move_batches(tools.fs, directory):
        if batch.done is not None:
            continue
        sights = look_at_moves(batch, tools)
        lost = [sight.step.intent for sight in sights if sight.rest is Rest.DANGER]
        if lost:
            danger += [f"{name_of(batch.intent)} {one.partition}".strip() for one in lost]
            continue
        try:
            done = _bring_to_rest(batch, sights, tools)
        except PortalError as error:
            danger.append(stuck(error, name_of(batch.intent)))
            continue
        notify_returned(tools.metastore, name_of(batch.intent), done)
        write_done(tools.fs, directory.child(move_done_name(done.batch)), done)
        for item in done.items:
            counts[item.outcome] = counts.get(item.outcome, 0) + 1
    if danger:
        where = " (old place, new place, the run's own directory)"
        raise out_of_place(danger, directory, what="items of a move", where=where)
    return counts


def look_at_moves(batch: JournalBatch, tools: SettleTools) -> list[MoveSight]:
    """Probe the metadata and the three places of every item of a batch."""
    steps = [Step.of(intent) for intent in batch.intent.items]
    structs = structs_for(tools.metastore, name_of(batch.intent), steps)
    sights = []
    for step in steps:
        places = (step.source, batch.directory.child(step.intent.item), step.target)
        source, home, target = (_lies(step, place, tools) for place in places)
        registered = step.registered(structs[step.intent.item])
        rest = decide_move(registered, source=source, home=home, target=target)
        sights.append(MoveSight(step, rest, home, source, target))
    return sights


def _lies(step: Step, place: LakePath, tools: SettleTools) -> Lies:
    if tools.fs.status(place) is None:
        return Lies.NOTHING
    found = files_of(tools.lister([place]).get(place, ()), root=place)
    return Lies.OTHER if shortfall(step.intent.files, found) else Lies.WHOLE


def _bring_to_rest(batch: JournalBatch, sights: list[MoveSight], tools: SettleTools) -> BatchDone:
    may_finish = tools.may_finish() and any(one.rest is Rest.HALF_DONE for one in sights)
    outcomes = {}
    forward: list[Step] = []
    back: list[Step] = []
    for sight in sights:
        item = sight.step.intent.item
        if sight.rest is Rest.HALF_DONE and may_finish and _goes_on(batch, sight, tools):
            forward.append(sight.step)
            outcomes[item] = (Outcome.MOVED, "finished by settle")
        elif sight.rest is Rest.HALF_DONE:
            _goes_back(batch, sight, tools)
            back.append(sight.step)
            reason = "undone: paused, no longer approved, or its new place was taken"
            outcomes[item] = (Outcome.RETURNED, reason)
        else:
            outcomes[item] = _at_rest(batch, sight, tools)
    name = name_of(batch.intent)
    repoint(tools.metastore, name, forward, forward=True)
    repoint(tools.metastore, name, back, forward=False)
    return settled(batch.intent, outcomes, now=tools.now)


def _goes_on(batch: JournalBatch, sight: MoveSight, tools: SettleTools) -> bool:
    """Bring the data to its new place; False where that was taken, or it is at the old one."""
    if sight.home is Lies.NOTHING:
        return sight.target is Lies.WHOLE
    try:
        home = batch.directory.child(sight.step.intent.item)
        rename_and_look(tools.fs, home, sight.step.target)
    except StaleState as error:
        if error.code not in ("fs.exists", "fs.parent_missing"):
            raise
        return False
    return True


def _goes_back(batch: JournalBatch, sight: MoveSight, tools: SettleTools) -> None:
    """Bring the data to its old place; what is there already stays."""
    if sight.home is not Lies.NOTHING:
        home = batch.directory.child(sight.step.intent.item)
        rename_and_look(tools.fs, home, sight.step.source)
    elif sight.source is Lies.NOTHING:
        rename_and_look(tools.fs, sight.step.target, sight.step.source)


def _at_rest(batch: JournalBatch, sight: MoveSight, tools: SettleTools) -> tuple[Outcome, str]:
    match sight.rest:
        case Rest.NOTHING_HAPPENED:
            return Outcome.SKIPPED, "nothing happened; back to planning"
        case Rest.NEW_DATA:
            return Outcome.NEW_DATA, NEW_DATA_WORDS.format(source=sight.step.source)
        case Rest.FOREIGN:
            if sight.home is not Lies.NOTHING:
                _goes_back(batch, sight, tools)
            has_moved = sight.home is Lies.NOTHING and sight.target is Lies.WHOLE
            place = sight.step.target if has_moved else sight.step.source
            return Outcome.GONE, f"somebody else changed its registration; its data is at {place}"
        case _:
            return Outcome.MOVED, ""
