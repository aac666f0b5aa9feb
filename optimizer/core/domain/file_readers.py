"""Judges whether the account of a table can read what another account writes into it.

Files that a run writes belong to the run's account and to the table's group. Where the table's own
account reads them neither by that group nor as anybody else, its next commit fails, so nothing is
written then.
"""

from dataclasses import dataclass

READ, SEARCH = 4, 1
_NEEDED = READ | SEARCH


@dataclass(frozen=True, slots=True)
class NewFiles:
    """Who may read what is written below a folder: bits of read (4) and search (1) each."""

    owner: str
    """The account of the table: the folder's owner; empty where the store has none."""
    writer: str
    group: str
    for_group: int
    for_others: int
    named: frozenset[str] = frozenset()
    """Accounts that the folder's default ACL names with both bits."""


def may_read(files: NewFiles, groups: frozenset[str] | None, *, superusers: str) -> bool:
    """Say whether the table's account reads new files; `groups` are its groups, None if unknown.

    Of a member of the group only the group's bits count, whatever others may do. What is not known
    is no: a table that its own writer cannot read any more stops its pipeline.
    """
    if not needs_groups(files):
        return True
    if groups is None:
        return False
    if superusers in groups:
        return True
    bits = files.for_group if files.group in groups else files.for_others
    return bits & _NEEDED == _NEEDED


def needs_groups(files: NewFiles) -> bool:
    """Say whether the answer hangs on the groups of the table's account."""
    if files.owner in {"", files.writer} or files.owner in files.named:
        return False
    return files.for_group & files.for_others & _NEEDED != _NEEDED
