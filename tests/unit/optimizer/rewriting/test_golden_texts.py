"""The text of an answer in each dialect is the one that was looked at."""

from tests.support.cube_queries import GOLDEN, QUERIES, golden


def test_every_text_is_the_golden_one() -> None:
    kept = {one.name: one.read_text(encoding="utf-8") for one in GOLDEN.glob("*.sql")}
    assert golden() == kept, "look at the differences; then python -m tests.support.cube_queries"


def test_every_query_is_answered_from_a_cube_in_trino_and_spark() -> None:
    # Spark's date_trunc of a day gives a time, which is another dimension.
    missing = {
        f"{name}.{coverage}.{dialect}.sql"
        for name in QUERIES
        for coverage in ("whole", "partly")
        for dialect in ("trino", "spark")
    } - golden().keys()
    assert missing == {"month.whole.spark.sql", "month.partly.spark.sql"}
