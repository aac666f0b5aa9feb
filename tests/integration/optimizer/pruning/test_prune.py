"""A query narrowed by the job gives the rows that it gives whole, from fewer files."""

import random
from datetime import UTC, datetime
from typing import Any

import pytest

from optimizer.pruning.domain.queries import PATH_COLUMNS
from optimizer.pruning.jobs import prune
from stack.lake import web_logs_write
from stack.lake.web_logs import POLICY
from stack.lake.web_logs_write import make_web_logs
from tests.support.iceberg_lake import IcebergLake, WrittenTable
from tests.support.scan_spark import job_for

NOW = datetime(2026, 11, 23, 12, tzinfo=UTC)
N_FILES = 48


@pytest.fixture
def logs(iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch) -> WrittenTable:
    """The demo's log lines with their indexes; what an earlier test made is taken as it is."""
    return made(iceberg_lake, "web_logs", monkeypatch)


def made(lake: IcebergLake, name: str, monkeypatch: pytest.MonkeyPatch) -> WrittenTable:
    monkeypatch.setattr(web_logs_write, "ROWS_A_FILE", 400)
    table = WrittenTable(lake, name)
    make_web_logs(lake.spark, table.sql, now=NOW)
    columns = POLICY["index_columns"]
    (result,) = lake.optimize(lake.task(table, kind="INDEX", index_columns=columns))
    assert result["outcome"] in ("DONE", "NOTHING"), result
    return table


def narrowed(table: WrittenTable, sql: str, *, most: int = 500, dialect: str = "spark") -> Any:
    params = {"sql": sql, "dialect": dialect, "max_files": most}
    lake = table.lake
    return prune.run(lake.spark, job_for(lake.spark, lake.config, params, now=NOW))


def rows(table: WrittenTable, sql: str) -> list[Any]:
    return sorted(table.lake.spark.sql(sql).collect(), key=repr)


def asked(table: WrittenTable, where: str) -> str:
    return " ".join(["SELECT * FROM", table.sql, "AS l WHERE", where])


def test_words_and_ids_are_found_in_few_files(logs: WrittenTable) -> None:
    assert len(logs.files()) == N_FILES
    (some,) = logs.lake.spark.table(logs.sql).where("level = 'ERROR'").limit(1).collect()
    for where in ("message LIKE '%gateway timeout%'", f"request_id = '{some['request_id']}'"):
        whole = asked(logs, where)
        found = narrowed(logs, whole)
        (planned,) = found["tables"]
        assert planned["whole"] == "", planned
        assert planned["snapshot"] == logs.opened.snapshot_id
        assert planned["n_files"] == N_FILES
        assert planned["n_kept"] <= 6, planned
        assert sum(planned["dropped"].values()) == N_FILES - planned["n_kept"]
        assert planned["kept_bytes"] < planned["n_bytes"]
        assert rows(logs, found["sql"]) == rows(logs, whole) != []


def test_trino_gets_its_own_words(logs: WrittenTable) -> None:
    found = narrowed(logs, asked(logs, "message LIKE '%gateway timeout%'"), dialect="trino")
    assert f"FOR VERSION AS OF {logs.opened.snapshot_id}" in found["sql"]
    assert f"{PATH_COLUMNS['trino']} IN (" in found["sql"]


def test_what_matches_nothing_needs_no_file(logs: WrittenTable) -> None:
    found = narrowed(logs, asked(logs, "request_id = 'no such id' AND 1 = 1"))
    assert rows(logs, found["sql"]) == []
    assert found["tables"][0]["n_kept"] <= 2, "as many as the filters are wrong by chance"


def test_a_long_list_of_files_changes_nothing(logs: WrittenTable) -> None:
    whole = asked(logs, "message LIKE '%gateway timeout%'")
    found = narrowed(logs, whole, most=1)
    assert "the limit is 1" in found["tables"][0]["whole"]
    assert "_file" not in found["sql"]


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("level = 'INFO' OR length(message) > 3", "nothing is asked"),
        ("message LIKE '%/%'", "no file can be left out"),
    ],
)
def test_a_table_read_as_before_says_why(logs: WrittenTable, where: str, why: str) -> None:
    found = narrowed(logs, asked(logs, where))
    assert why in found["tables"][0]["whole"]


def test_a_plan_that_indexes_had_no_part_in_leaves_the_query_alone(
    logs: WrittenTable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(prune, "use_indexes", lambda *_: None)
    monkeypatch.setattr(prune, "INDEXED", "lake")
    whole = asked(logs, "message LIKE '%gateway timeout%'")
    found = narrowed(logs, whole)
    assert "through the indexed catalog" in found["tables"][0]["whole"]
    assert rows(logs, found["sql"]) == rows(logs, whole) != []


def test_files_that_came_later_are_kept_until_they_are_indexed(
    iceberg_lake: IcebergLake, monkeypatch: pytest.MonkeyPatch
) -> None:
    logs = made(iceberg_lake, "late_logs", monkeypatch)
    lake = logs.lake
    lake.spark.sql(
        " ".join(
            ["INSERT INTO", logs.sql, "VALUES (now(), 'ERROR', 'late', 'late gateway timeout', '')"]
        )
    )
    whole = asked(logs, "message LIKE '%late gateway%'")
    found = narrowed(logs, whole)
    (planned,) = found["tables"]
    assert planned["n_files"] == N_FILES + 1
    assert rows(logs, found["sql"]) == rows(logs, whole)
    assert len(rows(logs, whole)) == 1
    assert planned["unused"], "it says that a file has no index"


def test_random_conditions_give_the_rows_of_the_whole_query(logs: WrittenTable) -> None:
    chance = random.Random(18)
    lines = logs.lake.spark.table(logs.sql).where("rand(3) < 0.01").limit(40).collect()

    def leaf() -> str:
        line = chance.choice(lines)
        message = line["message"]
        at = chance.randrange(len(message) - 4)
        return chance.choice(
            [
                f"request_id = '{line['request_id']}'",
                f"request_id IN ('{line['request_id']}', 'none')",
                f"message LIKE '%{message[at : at + 6].replace('%', '').replace('_', '')}%'",
                f"message LIKE '{message[:12]}%'",
                f"level <> '{line['level']}'",
                "random() < 2",
            ]
        )

    for _ in range(12):
        word = chance.choice(("AND", "OR"))
        where = f"({leaf()} {word} {leaf()})"
        if chance.random() < 0.3:
            where = f"NOT {where}"
        whole = asked(logs, f"{where} AND {leaf()}")
        assert rows(logs, narrowed(logs, whole)["sql"]) == rows(logs, whole), whole
