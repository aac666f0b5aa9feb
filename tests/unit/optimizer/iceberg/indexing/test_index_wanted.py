"""Indexes are asked for by column, kind and parameter; what cannot be meant is refused."""

from datetime import UTC, datetime, timedelta

import pytest

from optimizer.core.domain.tasks import TaskKind
from optimizer.iceberg.indexing.domain.wanted import WantedIndex, mark_of, parse_all_wanted
from optimizer.iceberg.inspect.domain.stats import TableStats
from optimizer.iceberg.planner.domain.deciding import decide
from optimizer.iceberg.planner.domain.maintenance import LastTimes
from optimizer.policies.domain.policy import Policy, contradiction
from optimizer.policies.domain.values import read_values, write_values
from optimizer.policies.domain.words import say, typed
from portal.lake.errors import RuleViolation

NOW = datetime(2026, 5, 4, 12, tzinfo=UTC)


def test_what_is_written_is_read_back() -> None:
    texts = ["id", "id:bitmap", "st.a.b:bloom:12", "a:b:ngram_bloom:2", "x y:token_bitmap"]
    found = parse_all_wanted([*texts, "id", " "])
    assert [str(one) for one in found] == texts
    assert found[3] == WantedIndex("a:b", "ngram_bloom", 2)
    assert mark_of(found) == mark_of(found[::-1]) != mark_of(found[1:])
    policy = read_values({"index_columns": texts})
    assert write_values(policy) == {"index_columns": texts}
    assert typed("index_columns", say("index_columns", texts)) == texts
    assert typed("index_columns", say("index_columns", [])) == []


@pytest.mark.parametrize(
    ("texts", "says"),
    [
        (["id:quick"], "no index kind quick"),
        ([":bloom"], "no index"),
        (["id:bloom:1"], "1 is no parameter of bloom"),
        (["t:ngram_bloom:4"], "4 is no parameter"),
        (["id:bitmap:3"], "3 is no parameter of bitmap"),
        (["id:auto:8"], "8 is no parameter"),
        (["id:bloom", "id:bloom:12"], "contradict"),
        ([f"c{n}" for n in range(17)], "17 columns"),
        ("id", "a list of columns"),
        ([1], "a list of columns"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_setting(texts: object, says: str) -> None:
    with pytest.raises(RuleViolation, match=says) as refused:
        read_values({"index_columns": texts})
    assert refused.value.fields["policy_fields"] == ["index_columns"]


def test_columns_without_leave_to_index_contradict() -> None:
    columns = parse_all_wanted(["id"])
    assert contradiction(Policy(index_columns=columns)) is None
    refused = contradiction(Policy(index_columns=columns, kinds=frozenset({TaskKind.MINOR})))
    assert refused is not None
    assert "INDEX is not allowed" in refused.message


def test_a_table_is_indexed_until_its_snapshot_is() -> None:
    policy = Policy(
        is_on=True, kinds=frozenset({TaskKind.INDEX}), index_columns=parse_all_wanted(["id"])
    )
    new, done = TableStats(n_files=3), TableStats(n_files=3, is_indexed=True)
    just = NOW - timedelta(minutes=1)
    for table, last, expected in (
        (new, LastTimes(), [TaskKind.INDEX]),
        (new, LastTimes({TaskKind.INDEX: just}), [TaskKind.INDEX]),
        (new, LastTimes(failed={TaskKind.INDEX: just}), []),
        (done, LastTimes(), []),
        (TableStats(), LastTimes(), []),
    ):
        found = decide([], table, policy=policy, last=last, now=NOW)
        assert [one.kind for one in found.proposals] == expected
    without = decide([], new, policy=Policy(is_on=True), last=LastTimes(), now=NOW)
    assert without.proposals == ()
