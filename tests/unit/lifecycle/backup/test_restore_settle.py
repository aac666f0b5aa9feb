"""What settling a restore reads is checked first: a changed or damaged file stops that batch."""

from datetime import timedelta
from pathlib import Path
from typing import cast

import pytest

from lifecycle.backup.domain.layout import intent_name, item_name, restore_intent_name
from lifecycle.backup.engine.facts import list_here
from lifecycle.backup.engine.journal.reading import read_batch, restore_steps
from lifecycle.backup.engine.journal.records import ItemTarget, Outcome, RestoreIntent
from lifecycle.backup.engine.settle.batches import SettleTools
from lifecycle.backup.engine.settle.restores import settle_restores
from portal.connectors.local_filesystem import LocalFileSystem
from portal.connectors.metastore import Metastore
from portal.lake.errors import DataSafetyError
from portal.lake.paths import LakePath
from tests.support.small_backup import DROPPED_AT, NoTables, write_backup

FS = LocalFileSystem()
NOW = DROPPED_AT + timedelta(days=1)
TOOLS = SettleTools(FS, cast("Metastore", NoTables()), list_here(FS), NOW, lambda: False)


@pytest.fixture
def backup(tmp_path: Path) -> LakePath:
    """A backup of which a restore began with two batches, and moved nothing."""
    base = LakePath.parse(f"file://{tmp_path}")
    directory = base.child("run")
    write_backup(directory, base.child("live"))
    for number in (1, 2):
        partition = f"dt={number}"
        intent = RestoreIntent(
            restore="r",
            restore_epoch=1,
            batch=number,
            at=NOW.isoformat(),
            db="sales",
            table="orders",
            location="",
            items=(
                ItemTarget(
                    item_name(number, 0), partition, str(base.child("live").child(partition))
                ),
            ),
        )
        FS.write_new(directory.child(restore_intent_name("r", 1, number)), intent.to_bytes())
    return directory


def known(directory: LakePath, *numbers: int) -> dict[int, str]:
    """Return the checksums of manifests as they are now."""
    return {number: read_batch(FS, directory, number).sha256 for number in numbers}


def outcomes(directory: LakePath) -> dict[int, list[Outcome]]:
    """Return what became of the items of each settled step."""
    return {
        step.intent.batch: [item.outcome for item in step.done.items]
        for step in restore_steps(FS, directory)
        if step.done is not None
    }


def test_steps_of_known_manifests_are_settled(backup: LakePath) -> None:
    counts = settle_restores(backup, TOOLS, known=known(backup, 1, 2))
    assert counts == {"SKIPPED": 2}
    assert outcomes(backup) == {1: [Outcome.SKIPPED], 2: [Outcome.SKIPPED]}


def test_nothing_is_settled_by_a_manifest_that_was_changed(backup: LakePath) -> None:
    stored = known(backup, 1, 2)
    path = backup.child(intent_name(1))
    FS.replace(path, FS.read(path).replace(b"alice", b"mallory"))
    with pytest.raises(DataSafetyError, match="is not the one that was written"):
        settle_restores(backup, TOOLS, known=stored)
    assert outcomes(backup) == {2: [Outcome.SKIPPED]}


def test_a_batch_that_the_catalogue_does_not_know_asks_a_person(backup: LakePath) -> None:
    with pytest.raises(DataSafetyError, match="rebuild_backups"):
        settle_restores(backup, TOOLS, known=known(backup, 1))
    assert outcomes(backup) == {1: [Outcome.SKIPPED]}


@pytest.mark.parametrize("name", [restore_intent_name("r", 1, 1), intent_name(1)])
def test_a_damaged_file_stops_only_its_own_batch(backup: LakePath, name: str) -> None:
    stored = known(backup, 1, 2)
    FS.replace(backup.child(name), b"{")
    with pytest.raises(DataSafetyError) as caught:
        settle_restores(backup, TOOLS, known=stored)
    assert caught.value.code == "act.lost"
    assert "batch 1 (" in caught.value.message
    step = restore_intent_name("r", 1, 2).replace("intent", "done")
    assert FS.status(backup.child(step)) is not None
