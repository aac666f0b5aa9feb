"""The forms of dates that cubes are advised by, as Spark computes them."""

from optimizer.advice.domain.stars.terms import WRITTEN, term_text
from tests.support.iceberg_lake import IcebergLake


def test_spark_reads_every_form_and_none_is_null(iceberg_lake: IcebergLake) -> None:
    source = "(SELECT TIMESTAMP '2026-11-27 13:14:15.5' AS at, DATE '2026-11-27' AS day)"
    columns = [
        f"string({term_text(form, 'day' if form.startswith('DATE_TRUNC') else 'at')}) AS `{form}`"
        for form in WRITTEN
    ]
    (row,) = iceberg_lake.spark.sql(f"SELECT {', '.join(columns)} FROM {source}").collect()
    found = row.asDict()
    expected = {
        "DATE": "2026-11-27",
        **{"YEAR": "2026", "QUARTER": "4", "MONTH": "11", "DAY": "27", "HOUR": "13"},
        "MINUTE": "14",
        "TRUNC:SECOND": "2026-11-27 13:14:15",
        "TRUNC:MINUTE": "2026-11-27 13:14:00",
        "TRUNC:HOUR": "2026-11-27 13:00:00",
        "TRUNC:DAY": "2026-11-27 00:00:00",
        "TRUNC:WEEK": "2026-11-23 00:00:00",
        "TRUNC:MONTH": "2026-11-01 00:00:00",
        "TRUNC:QUARTER": "2026-10-01 00:00:00",
        "TRUNC:YEAR": "2026-01-01 00:00:00",
        "DATE_TRUNC:WEEK": "2026-11-23",
        "DATE_TRUNC:MONTH": "2026-11-01",
        "DATE_TRUNC:QUARTER": "2026-10-01",
        "DATE_TRUNC:YEAR": "2026-01-01",
    }
    assert found == expected


def test_days_of_a_date_have_no_form(iceberg_lake: IcebergLake) -> None:
    """Spark's `trunc` gives null there, so it is neither advised nor matched with Trino's."""
    (row,) = iceberg_lake.spark.sql("SELECT trunc(DATE '2026-11-27', 'DAY') AS day").collect()
    assert row.day is None
