"""An engine is given no rows of tables that it would read otherwise than Spark does."""

from dataclasses import replace
from datetime import timedelta

import pytest

from optimizer.rewriting.domain.aggregates import aggregate_facts
from optimizer.rewriting.domain.facts import HUDI, TableFacts
from optimizer.rewriting.domain.hudi_readers import HudiReader
from tests.unit.optimizer.rewriting.test_stored_aggregates import (
    BY_DAY,
    INSTANT,
    NOW,
    ORDERS,
    QUERY,
    SHOPS,
    TABLES,
    answered,
    reason,
)

OLD = HudiReader("hudi", newest_version=6)
KEPT = TableFacts(BY_DAY.table, "file:/kept", 1, format=HUDI, version=6)
READ = {**TABLES, BY_DAY.table: KEPT}


def problem(reader: HudiReader, **changed: TableFacts) -> str:
    tables = {**READ, **{one.name: one for one in changed.values()}}
    facts = aggregate_facts(BY_DAY, tables, max_lag=timedelta(days=1), now=NOW, reader=reader)
    return facts.problem


def test_tables_that_it_reads_as_spark_does_are_no_problem() -> None:
    assert problem(OLD) == ""
    assert problem(OLD, fact=replace(TABLES[ORDERS], version=6)) == ""


@pytest.mark.parametrize("name", [ORDERS, SHOPS, BY_DAY.table])
def test_a_table_version_that_it_does_not_know_is_refused(name: str) -> None:
    newer = replace(READ[name], version=8)
    said = problem(OLD, one=newer)
    assert said == (
        f"{name} has the table version 8, and the catalog hudi reads Hudi tables up to version 6"
    )
    assert problem(HudiReader("hudi", newest_version=9), one=newer) == ""


@pytest.mark.parametrize("name", [ORDERS, SHOPS])
def test_rows_in_log_files_that_it_does_not_merge_are_refused_at_any_age(name: str) -> None:
    logged = replace(READ[name], version=6, has_logs=True)
    assert "has rows in log files, which the catalog hudi does not read" in problem(OLD, one=logged)
    assert problem(HudiReader("hudi", newest_version=6, reads_logs=True), one=logged) == ""


def test_the_table_of_the_rows_must_be_known() -> None:
    facts = aggregate_facts(BY_DAY, TABLES, max_lag=None, now=NOW, reader=OLD)
    assert facts.problem == f"{BY_DAY.table} is not known here"


def test_later_commits_that_changed_no_row_leave_it_current() -> None:
    compacted = replace(
        TABLES[ORDERS], snapshot_id=INSTANT + 9, same_rows=(INSTANT + 9, INSTANT + 5, INSTANT)
    )
    assert answered(QUERY, known={**TABLES, ORDERS: compacted}).is_rewritten
    written = replace(compacted, same_rows=(INSTANT + 9, INSTANT + 5))
    assert "was written to since" in reason(answered(QUERY, known={**TABLES, ORDERS: written}))


def test_facts_of_hudi_come_through_json() -> None:
    facts = replace(TABLES[ORDERS], version=6, has_logs=True, same_rows=(3, 2))
    assert TableFacts.from_json(facts.to_json()) == facts
    old = facts.to_json()
    for name in ("version", "has_logs", "same_rows"):
        del old[name]
    assert TableFacts.from_json(old) == TABLES[ORDERS]


def test_a_query_that_is_left_says_why() -> None:
    assert answered(QUERY).refusal == ""
    assert answered("SELECT day FROM shop.orders").refusal.startswith("the query holds no aggreg")
    left = answered(QUERY.replace("'paid'", "'open'")).refusal
    assert left.startswith(f"{BY_DAY.table}: it holds only rows with"), left
