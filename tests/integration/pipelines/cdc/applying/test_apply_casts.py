"""A text becomes the lake's type whole, or NULL: never rounded, cut or guessed."""

import base64
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from pipelines.cdc.applying.domain.casts import cast_sql

pytestmark = pytest.mark.spark

FIT: list[tuple[str, str, Any]] = [
    ("int", "-2147483648", -2_147_483_648),
    ("int", "007", 7),
    ("bigint", "9223372036854775807", 9_223_372_036_854_775_807),
    ("decimal(20,0)", "18446744073709551615", Decimal(18_446_744_073_709_551_615)),
    ("decimal(5,2)", "-123.45", Decimal("-123.45")),
    ("decimal(5,2)", "00123.4500", Decimal("123.45")),
    ("decimal(38,38)", "0." + "1" * 38, Decimal("0." + "1" * 38)),
    ("double", "1.7976931348623157e+308", 1.7976931348623157e308),
    ("double", "0.30000000000000004", 0.30000000000000004),
    ("double", "9007199254740992", 9_007_199_254_740_992.0),
    ("double", "5e-324", 5e-324),
    ("double", "1000000.0", 1_000_000.0),
    ("double", "-0.0", -0.0),
    ("float", "1.5e-05", 1.4999999621068127e-05),
    ("float", "16777216", 16_777_216.0),
    ("boolean", "1", True),
    ("boolean", "0", False),
    ("date", "2024-02-29", date(2024, 2, 29)),
    ("date", "9999-12-31", date(9999, 12, 31)),
    ("string", "", ""),
    ("binary", base64.b64encode(b"\x00\xff").decode(), b"\x00\xff"),
    ("binary", "", b""),
]
MOMENTS = {
    "2024-02-29 23:59:59": datetime(2024, 2, 29, 23, 59, 59, tzinfo=UTC),
    "2024-02-29 23:59:59.000001": datetime(2024, 2, 29, 23, 59, 59, 1, tzinfo=UTC),
}
UNFIT = [
    *(("int", text) for text in ("2147483648", "1.0", "1.5", "", " 1", "1e3", "0x1", "one", "1\n")),
    *(("bigint", text) for text in ("9223372036854775808", "-9223372036854775809", "+1")),
    *(("decimal(5,2)", text) for text in ("1234.5", "1.234", "", ".", "1e1", "NaN")),
    ("decimal(20,0)", "184467440737095516150"),
    *(("double", text) for text in ("1e309", "9007199254740993", "", "1.", "0x1p3", "1d")),
    *(("float", text) for text in ("1e39", "16777217", "3.4028236e+38", "1f")),
    *(("boolean", text) for text in ("2", "true", "")),
    *(("date", text) for text in ("0000-00-00", "2023-02-29", "2024", "2024-02", "2024-00-01")),
    *(("timestamp", text) for text in ("0000-00-00 00:00:00", "2024-02-30 00:00:00")),
    *(
        ("timestamp", text)
        for text in ("2024-02-29", "2024-02-29 24:00:00", "2024-02-29T01:00:00Z")
    ),
    *(("binary", text) for text in ("a", "a===", "====", "é===", "YQ")),
]


def test_texts_fit_whole_or_are_null(spark: SparkSession) -> None:
    cases = [
        *((lake, text) for lake, text, _ in FIT),
        *(("timestamp", text) for text in MOMENTS),
        *UNFIT,
    ]
    frame = spark.createDataFrame(
        [tuple(text for _, text in cases)], [f"t{n}" for n in range(len(cases))]
    )
    values = [F.expr(cast_sql(f"t{n}", lake)).alias(f"c{n}") for n, (lake, _) in enumerate(cases)]
    moments = range(len(FIT), len(FIT) + len(MOMENTS))
    values = [F.unix_micros(one) if n in moments else one for n, one in enumerate(values)]
    (found,) = frame.select(*values).collect()
    assert list(found[: len(FIT)]) == [value for _, _, value in FIT]
    micros = [int(one.timestamp()) * 1_000_000 + one.microsecond for one in MOMENTS.values()]
    assert list(found[len(FIT) : -len(UNFIT)]) == micros
    taken = [
        case for case, value in zip(UNFIT, found[-len(UNFIT) :], strict=True) if value is not None
    ]
    assert taken == []
