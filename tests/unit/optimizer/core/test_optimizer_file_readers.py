"""Whether the account of a table can read what a run of another account writes into it."""

import itertools
from dataclasses import replace

import pytest

from optimizer.core.domain.file_readers import NewFiles, may_read

ALL, NONE = 7, 0


_PLAIN = NewFiles("etl", "portal", "analysts", for_group=ALL, for_others=NONE)


@pytest.mark.parametrize(
    ("files", "groups", "expected"),
    [
        (_PLAIN, {"etl", "analysts"}, True),
        (_PLAIN, {"etl"}, False),
        (_PLAIN, None, False),
        (_PLAIN, {"supergroup"}, True),
        (replace(_PLAIN, for_others=5), {"etl"}, True),
        (replace(_PLAIN, for_others=5), None, True),
        (replace(_PLAIN, for_group=NONE, for_others=5), {"analysts"}, False),
        (replace(_PLAIN, for_group=NONE, for_others=5), None, False),
        (replace(_PLAIN, for_others=4), {"etl"}, False),
        (replace(_PLAIN, named=frozenset({"etl"})), None, True),
        (replace(_PLAIN, owner="portal"), None, True),
        (replace(_PLAIN, owner=""), None, True),
    ],
)
def test_who_reads_new_files(files: NewFiles, groups: set[str] | None, expected: bool) -> None:
    known = None if groups is None else frozenset(groups)
    assert may_read(files, known, superusers="supergroup") is expected


def test_more_rights_never_make_a_reader_lose_his() -> None:
    for group, others, member in itertools.product(range(8), range(8), (True, False)):
        groups = frozenset({"analysts"} if member else {"etl"})
        files = replace(_PLAIN, for_group=group, for_others=others)
        more = replace(_PLAIN, for_group=group | 5, for_others=others | 5)
        assert may_read(more, groups, superusers="root") >= may_read(
            files, groups, superusers="root"
        )
