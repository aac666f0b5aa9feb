"""Decides what a restore does or would do with one item, with each conflict and its reason."""

from enum import StrEnum


class Choice(StrEnum):
    """What a restore does, or would do, with one item."""

    RESTORE = "RESTORE"
    DATA_ONLY = "DATA_ONLY"
    ALREADY_RESTORED = "ALREADY_RESTORED"
    RESTORED_BEFORE = "RESTORED_BEFORE"
    UNDER_WAY = "UNDER_WAY"
    NOT_IN_BACKUP = "NOT_IN_BACKUP"
    NAME_TAKEN = "NAME_TAKEN"
    PLACE_TAKEN = "PLACE_TAKEN"
    TABLE_REPLACED = "TABLE_REPLACED"
    DAMAGED = "DAMAGED"
    PURGED = "PURGED"
    STANDS = "STANDS"
    MISFIT = "MISFIT"
    ELSEWHERE = "ELSEWHERE"


# What a restore brings back; DATA_ONLY registers nothing.
BROUGHT = frozenset({Choice.RESTORE, Choice.DATA_ONLY})
CONFLICTS = frozenset(Choice) - {
    Choice.RESTORE,
    Choice.DATA_ONLY,
    Choice.ALREADY_RESTORED,
    Choice.RESTORED_BEFORE,
    Choice.UNDER_WAY,
    Choice.NOT_IN_BACKUP,
    Choice.STANDS,
}
# Each names what is in the way and, where a person can do something about it, what.
WHY = {
    Choice.RESTORE: "no conflict",
    Choice.DATA_ONLY: "its name was never dropped and its place is empty: only its data comes back",
    Choice.ALREADY_RESTORED: "already restored",
    Choice.RESTORED_BEFORE: "restored by this run before it was taken over",
    Choice.UNDER_WAY: "another restore brings it back just now",
    Choice.NOT_IN_BACKUP: "was not dropped by this run",
    Choice.NAME_TAKEN: "something newer is registered under this name; restore under another name",
    Choice.PLACE_TAKEN: "new data is at its place; restore under another name",
    Choice.TABLE_REPLACED: (
        "another table was made under this name since; restore into it, or under another name"
    ),
    Choice.DAMAGED: "the backup lacks files of its manifest",
    Choice.PURGED: "the backup was purged",
    Choice.STANDS: "stands in the lake; only what is missing was asked for",
    Choice.MISFIT: "it does not fit into {}; restore under a new name, or repair that table first",
    Choice.ELSEWHERE: (
        "the new place is on another file system than the backup; restore where data can be moved "
        "to from there"
    ),
}
