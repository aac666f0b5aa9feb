"""The columns of the golden index files: every class of values, with its awkward ones."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from optimizer.indexes.domain.values import ColumnType, column_type
from tests.support.index_values import Plain

ROWS = 40


@dataclass(frozen=True)
class Column:
    """A column of the one data file that the golden indexes are of."""

    name: str
    field_id: int
    iceberg_type: str
    values: Sequence[Plain | None]
    absent: Sequence[Plain]
    """Values to look for that are not in it."""

    @property
    def type(self) -> ColumnType:
        """What indexes know of its type."""
        kind = column_type(self.iceberg_type)
        if kind is None:
            raise ValueError(self.iceberg_type)
        return kind


def _fill(*first: Plain | None) -> list[Plain | None]:
    return (list(first) * ROWS)[:ROWS]


COLUMNS = (
    Column("flag", 1, "boolean", _fill(True, False, None, True), ()),
    Column(
        "id",
        2,
        "long",
        [-(2**63), 2**63 - 1, 0, -1, *(at * 7_919 + 13 for at in range(ROWS - 4))],
        (1, 14, -2, 2**62, -(2**62)),
    ),
    Column("small", 3, "int", _fill(3, None, -5, 3, 8, 21, -(2**31)), (0, 4, 2**31 - 1)),
    Column("day", 4, "date", _fill(0, -1, -719_162, 20_000, None), (1, 19_999)),
    Column("clock", 5, "time", _fill(0, 86_399_999_999, 1), (2, 43_200_000_000)),
    Column("at", 6, "timestamp", _fill(0, -1, 1_764_000_000_000_000), (1, -2)),
    Column("at_zone", 7, "timestamptz", _fill(0, -62_135_596_800_000_000, None), (1,)),
    Column("at_ns", 8, "timestamp_ns", _fill(0, -1, 2**62), (1,)),
    Column("at_ns_zone", 9, "timestamptz_ns", _fill(5, -(2**62)), (1,)),
    Column(
        "ratio",
        10,
        "double",
        _fill(0.0, -0.0, 1.5, -1.5, math.nan, math.inf, -math.inf, 5e-324, None, 0.1),
        (2.5, -2.5, 1e300),
    ),
    Column("ratio32", 11, "float", _fill(0.5, -0.25, math.nan), (0.75,)),
    Column(
        "price",
        12,
        "decimal(12,2)",
        _fill(
            *(Decimal(text) for text in ("0.00", "-0.01", "1.27", "1.28", "-1.28", "9999999999.99"))
        ),
        (Decimal("0.01"), Decimal("-1.29")),
    ),
    Column(
        "huge",
        13,
        "decimal(38,0)",
        _fill(Decimal(10**37), Decimal(-(10**37)), Decimal(255), None),
        (Decimal(256), Decimal(-255)),
    ),
    Column(
        "name",
        14,
        "string",
        _fill("", "Ada", "ada", "Žofie", "世界", "😀", "z" * 40, "name with  two blanks ", None),
        ("Ad", "ADA", "世", "z" * 41),
    ),
    Column("key", 15, "uuid", [UUID(int=at * 2**120 + at) for at in range(ROWS)], (UUID(int=5),)),
    Column("raw", 16, "binary", _fill(b"", b"\x00", b"\x00\x00", b"\xff\xfe", None), (b"\x01",)),
    Column("code", 17, "fixed[4]", _fill(b"\x00\x00\x00\x01", b"\xff\xff\xff\xff"), (b"abcd",)),
    Column(
        "line",
        18,
        "string",
        _fill(
            "2026-11-25 ERROR disk /dev/sda1 is full",
            "2026-11-25 info request id=Ab12-c3 took 35ms",
            "Grüße an 世界: ok",
            "",
            None,
            "error_code=7 50% done",
            "w" * 300 + " end",
        ),
        ("error", "diskless", "Warning: nothing"),
    ),
    Column("odd", 19, "string", _fill("300 \u212a", "İzmir", "kelvin", None), ("k",)),
)
BY_NAME = {column.name: column for column in COLUMNS}
