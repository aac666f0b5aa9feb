"""Location to which an item is restored, and the parents that must exist above it."""

from dataclasses import replace

from lifecycle.backup.engine.journal.records import FileFact, ItemIntent
from portal.lake.paths import LakePath


def target_of(item: ItemIntent, location: LakePath | None) -> LakePath:
    """Return the place to which an item comes back: its old one, or its own at a new `location`."""
    if location is None:
        return LakePath.parse(item.source)
    return location.child(*item.partition.split("/")) if item.partition else location


def parents_above(item: ItemIntent, location: LakePath | None) -> tuple[FileFact, ...]:
    """Return the directories above where an item comes back, each as the one it stands for was.

    At a new `location` they go from there down: the nearest directory above the old place lends its
    mode and owner to the nearest above the new.
    """
    if location is None:
        return item.parents
    facts = list(reversed(item.parents))
    found: list[FileFact] = []
    path = target_of(item, location).parent
    while facts and path != location.parent:
        found.append(replace(facts[min(len(found), len(facts) - 1)], path=str(path)))
        path = path.parent
    return tuple(reversed(found))
