"""Creates the fence of an acting run, and claims the backups of a restore or purge."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from itertools import groupby
from typing import Any

from lifecycle.backup.domain.layout import BackupRef
from lifecycle.backup.domain.states import FenceKind
from lifecycle.backup.engine.files.backup_root import ensure_root, preflight
from lifecycle.backup.engine.journal.reading import is_unsettled, read_known_batch
from lifecycle.backup.engine.journal.records import FileFact, ItemIntent
from lifecycle.backup.engine.restore.target import parents_above
from lifecycle.backup.engine.settle.batches import make_parents
from lifecycle.backup.engine.surroundings import check_surroundings
from lifecycle.backup.models import ActFence, BackupBatch
from lifecycle.backup.services.reach import Place
from portal.access.lakes import get_lake
from portal.connectors.file_status import FileSystem
from portal.connectors.metastore import Metastore
from portal.connectors.name_services.crossing import check_one_service
from portal.lake.errors import NotAllowed, RuleViolation, StaleState
from portal.lake.paths import LakePath
from portal.runs.models import Run
from portal.safety.fence import LEASE_LENGTH, move_directory, open_fence
from portal.safety.selectors import EMERGENCY_STOP_CODE, emergency_stop_state

# What is said of a backup that could not be had.
_SAID = ("backup", "name")


def act_prepare(run: Run, *, root: str, day: date, now: datetime) -> dict[str, Any]:
    """Make a drop run's fence; returns the request's {"root", "fence", "day"}. Twice = the same.

    Raises:
        DataSafetyError: the root's marker belongs to another deployment.
        ExternalFailure: the preflight (mkdir and rename both ways) did not pass.
        NotAllowed: the emergency stop is pressed.
        StaleState: the metastore answers from a cache, or clocks differ.
    """
    _check_emergency_stop(run.lake)
    place = _place(run, FenceKind.DROP, (root, day), claims=[], now=now)
    ensure_root(place.fs, place.day.root, deployment_id=place.config.deployment_id)
    _check_surroundings(place, tag=str(run.pk))
    preflight(place.fs, place.day.root, [], tag=str(run.pk))
    open_fence(place.fs, place.path, lease_until=place.fence.lease_until)
    return {"root": str(place.day.root), "fence": str(place.path), "day": day.isoformat()}


def move_prepare(
    run: Run, *, root: str, day: date, targets: Sequence[str], now: datetime
) -> dict[str, Any]:
    """Make the fence of a run of moves, and what lacks above the new places. Twice = the same.

    A directory made above a new place gets mode and owner of the nearest one that is there.

    Raises:
        RuleViolation: `fs.other_service`, a new place is on another file system; nothing was made.
        DataSafetyError, ExternalFailure, NotAllowed, StaleState: as `act_prepare`.
    """
    _check_emergency_stop(run.lake)
    config = get_lake(run.lake)
    for text in targets:
        check_one_service(config.path(root), config.path(text))
    place = _place(run, FenceKind.MOVE, (root, day), claims=[], now=now)
    ensure_root(place.fs, place.day.root, deployment_id=place.config.deployment_id)
    _check_surroundings(place, tag=str(run.pk))
    preflight(place.fs, place.day.root, [], tag=str(run.pk))
    for target in dict.fromkeys(place.config.path(text).parent for text in targets):
        _make_directory_like_above(place.fs, target)
    open_fence(place.fs, place.path, lease_until=place.fence.lease_until)
    return {"root": str(place.day.root), "fence": str(place.path), "day": day.isoformat()}


def _check_surroundings(place: Place, *, tag: str) -> None:
    with Metastore.connect(place.config) as metastore:
        check_surroundings(metastore, place.fs, place.day.root, tag=tag)


def _make_directory_like_above(fs: FileSystem, directory: LakePath) -> None:
    missing = []
    while (above := fs.status(directory)) is None and directory.parent != directory:
        missing.append(directory)
        directory = directory.parent
    if above is not None:
        like = FileFact.of(above, root=directory)
        facts = tuple(replace(like, path=str(path)) for path in reversed(missing))
        make_parents(fs, facts, keep_times=False)


def restore_prepare(run: Run, *, batches: Sequence[BackupBatch], now: datetime) -> dict[str, Any]:
    """Claim the backups of a restore run; gives the request's {"claims": [...]}. Twice = the same.

    Missing parents of what comes back are made with their recorded modes. `params["partitions"]` of
    the run, if set, says which partitions are wanted.

    Raises:
        StaleState: `act.claimed` another run has the backup, `act.unsettled` its own run has not
            been settled yet.
        RuleViolation: `restore.unreachable`, data cannot be moved to where it shall come.
    """
    claims, places = _claim(run, FenceKind.RESTORE, batches, now=now)
    for fence, place in places.items():
        _reach(place, run.params.get("rename_to"), tag=str(run.pk))
        own = [claim for claim in claims["claims"] if claim["fence"] == fence]
        make_parents(place.fs, _parents_of_all(place, own, run.params))
    return claims


def restore_claims(run: Run, *, batches: Sequence[BackupBatch]) -> dict[str, Any]:
    """Give what `restore_prepare` or `undo_prepare` claimed, without looking at the lake again."""
    fences = {
        (fence.root, fence.day): Place.of(fence)
        for fence in ActFence.objects.filter(run_id=run.pk, epoch=run.epoch)
    }
    rows = sorted(batches, key=_claim_order)
    return {"claims": [_claim_row(fences[row.root, row.day], row) for row in rows], "busy": []}


def _parents_of_all(
    place: Place, claims: Sequence[Mapping[str, Any]], params: Mapping[str, Any]
) -> tuple[FileFact, ...]:
    """Return every directory above what comes back once, however many items lie below it."""
    wanted, to = params.get("partitions"), params.get("rename_to")
    found: dict[str, FileFact] = {}
    for claim in claims:
        directory = place.config.path(claim["directory"])
        batch = read_known_batch(
            place.fs, directory, claim["batch"], sha256=claim["manifest_sha256"]
        )
        for item in batch.intent.items:
            if wanted is None or item.partition in wanted:
                for fact in _parents(place, item, to):
                    found.setdefault(fact.path, fact)
    return tuple(found.values())


def _reach(place: Place, to: Mapping[str, Any] | None, *, tag: str) -> None:
    """Prove by moving a directory there and back that data can come to a new place.

    Another file system is a conflict of each item, which the job names.
    """
    location = _new_location(place, to)
    if location is None:
        return
    _make_directory_like_above(place.fs, location.parent)
    near = location if place.fs.status(location) is not None else location.parent
    if refused := preflight(place.fs, place.day.root, [near], tag=tag):
        raise RuleViolation(
            "restore.unreachable",
            f"Nothing was restored: data cannot be moved from the backup root to {near} (another "
            "encryption zone, or no right to write there). Choose a table or database elsewhere, "
            f"or have that right given. {refused[near]}",
            path=near,
        )


def _parents(place: Place, item: ItemIntent, to: Mapping[str, Any] | None) -> tuple[FileFact, ...]:
    """Give the directories above where an item comes back: its old ones, or those of a new name."""
    location = _new_location(place, to)
    return () if to and location is None else parents_above(item, location)


def _new_location(place: Place, to: Mapping[str, Any] | None) -> LakePath | None:
    """Return where a new name has its data, if it is known and can be moved to from the backup."""
    location = place.config.path(to["location"]) if to and to.get("location") else None
    return location if location and location.same_file_system(place.day.root) else None


def undo_prepare(run: Run, *, batches: Sequence[BackupBatch], now: datetime) -> dict[str, Any]:
    """Claim the backups into which a restore goes back; gives {"claims": [...]}. Twice = the same.

    Raises:
        StaleState: as `restore_prepare`.
    """
    return _claim(run, FenceKind.RESTORE, batches, now=now)[0]


def purge_prepare(run: Run, *, batches: Sequence[BackupBatch], now: datetime) -> dict[str, Any]:
    """Claim the backups of a purge run; gives {"claims": [...]} with what the catalogue knows.

    What a restore has just now is left to the next purge and stands in "busy".
    """
    return _claim(run, FenceKind.PURGE, batches, now=now)[0]


def _claim(
    run: Run, kind: FenceKind, batches: Sequence[BackupBatch], *, now: datetime
) -> tuple[dict[str, Any], dict[str, Place]]:
    """Return what was claimed and what is busy, and the places behind the fences by their paths."""
    _check_emergency_stop(run.lake)
    claims: list[dict[str, Any]] = []
    busy: list[dict[str, Any]] = []
    places: dict[str, Place] = {}

    def key(batch: BackupBatch) -> tuple[str, date]:
        return batch.root, batch.day

    for where, group in groupby(sorted(batches, key=_claim_order), key=key):
        rows = list(group)
        refs = list(dict.fromkeys(BackupRef(str(row.run_id), row.epoch) for row in rows))
        place = _place(run, kind, where, claims=refs, now=now)
        places[str(place.path)] = place
        ensure_root(place.fs, place.day.root, deployment_id=place.config.deployment_id)
        open_fence(place.fs, place.path, lease_until=place.fence.lease_until)
        taken = {ref for ref in refs if _take(place, ref, kind)}
        for row in rows:
            is_taken = BackupRef(str(row.run_id), row.epoch) in taken
            (claims if is_taken else busy).append(_claim_row(place, row))
    said = [{name: row[name] for name in _SAID} for row in busy]
    return {"claims": claims, "busy": said}, places


def _claim_order(batch: BackupBatch) -> tuple[str, date, int]:
    return batch.root, batch.day, batch.pk


def _claim_row(place: Place, row: BackupBatch) -> dict[str, Any]:
    ref = BackupRef(str(row.run_id), row.epoch)
    return {
        "backup": str(row.public_id),
        "name": f"{row.db}.{row.table}, batch {row.batch}",
        "fence": str(place.path),
        "directory": str(place.claimed(ref)),
        "batch": row.batch,
        "manifest_sha256": row.manifest_sha256,
        "n_left": row.n_items - row.n_restored,
        "purge_after": row.purge_after.isoformat() if row.purge_after else None,
    }


def _take(place: Place, ref: BackupRef, kind: FenceKind) -> bool:
    """Take a backup; False where it is busy and can wait, which a restore's cannot."""
    try:
        _claim_directory(place, ref)
    except StaleState as error:
        if kind is FenceKind.RESTORE or error.code not in ("act.claimed", "act.unsettled"):
            raise
        return False
    return True


def _claim_directory(place: Place, ref: BackupRef) -> None:
    claimed = place.claimed(ref)
    try:
        move_directory(place.fs, place.sealed(ref), claimed)
    except StaleState as error:
        raise StaleState(
            "act.claimed",
            "Another run has this backup, or its own run has not ended. Try again when it is done.",
            run=ref.run,
        ) from error
    if is_unsettled(place.fs, claimed):
        move_directory(place.fs, claimed, place.sealed(ref))
        raise StaleState("act.unsettled", "The backup's last run is not settled yet.", run=ref.run)


def _place(
    run: Run,
    kind: FenceKind,
    where: tuple[str, date],
    *,
    claims: Sequence[BackupRef],
    now: datetime,
) -> Place:
    """Note the fence in the database before anything is made, so that settle finds it."""
    fence, _ = ActFence.objects.update_or_create(
        run_id=run.pk,
        epoch=run.epoch,
        root=where[0],
        day=where[1],
        defaults={"lease_until": now + LEASE_LENGTH},
        create_defaults={
            "lake": run.lake,
            "kind": kind,
            "opened_at": now,
            "lease_until": now + LEASE_LENGTH,
        },
    )
    asked = [{"run": ref.run, "epoch": ref.epoch} for ref in claims]
    if new := [claim for claim in asked if claim not in fence.claims]:
        fence.claims = [*fence.claims, *new]
        fence.save(update_fields=["claims"])
    return Place.of(fence)


def _check_emergency_stop(lake: str) -> None:
    button = emergency_stop_state(lake)
    if button is not None:
        raise NotAllowed(
            EMERGENCY_STOP_CODE,
            f"{button.pressed_by} started the emergency stop: {button.reason} Nothing changes "
            "the lake until two admins end it.",
        )
