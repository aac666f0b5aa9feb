"""Finds log blocks of a Hudi table whose rows readers and a compaction leave out.

Of blocks whose instant is in neither timeline Hudi skips those that are younger than the first
write of the active timeline. What was undone on purpose is none of them. What is older than all
that the timelines tell of cannot be judged.
"""

from collections.abc import Collection, Iterable
from enum import StrEnum

from optimizer.hudi.inspect.domain.damage import merged_blocks
from optimizer.hudi.inspect.domain.facts import BlockKind, BlockState, HudiInspection, LogBlock


class Today(StrEnum):
    """What the table holds today of the key of a row that was left out."""

    ABSENT = "absent"  # nothing: the row comes back
    OLDER = "older"  # a row with a smaller ordering value: the row comes back
    EQUAL = "equal"  # a row with the same ordering value: that one stays
    NEWER = "newer"  # a row with a greater ordering value: that one stays
    ELSEWHERE = "elsewhere"  # the key, in another partition: nothing is written
    UNKNOWN = "unknown"  # an ordering value is null on one side: nothing is written


COMES_BACK = frozenset({Today.ABSENT, Today.OLDER})


NOTHING_LEFT_OUT = "By the last inspection no block of its logs holds rows that nobody reads."


def left_out(look: HudiInspection, undone: Collection[str] = ()) -> tuple[LogBlock, ...]:
    """Return the data blocks whose rows nobody reads, but for those `undone` on purpose."""
    merged = frozenset(merged_blocks(look))
    known = frozenset(undone)
    latest = {one.group for one in look.slices}
    return tuple(
        one
        for one in _unread(look.blocks)
        if one not in merged and one.group in latest and one.instant not in known
    )


def _unread(blocks: Iterable[LogBlock]) -> Iterable[LogBlock]:
    for one in blocks:
        if one.kind is BlockKind.DATA and one.state is BlockState.NOWHERE and one.instant:
            yield one
