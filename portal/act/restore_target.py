"""What must stand above the new place of an item that comes back elsewhere?"""

from dataclasses import replace

from portal.act.records import FileFact, ItemIntent
from portal.lake.paths import LakePath


def parents_of_target(
    item: ItemIntent, target: LakePath, *, below: LakePath
) -> tuple[FileFact, ...]:
    """Give the directories from `below` down to a new place, each as the one it stands for was.

    The nearest directory above the old place lends its mode and owner to the nearest above the new.
    """
    facts = list(reversed(item.parents))
    found: list[FileFact] = []
    path = target.parent
    while facts and path != below and path.is_at_or_under(below):
        found.append(replace(facts[min(len(found), len(facts) - 1)], path=str(path)))
        path = path.parent
    return tuple(reversed(found))
