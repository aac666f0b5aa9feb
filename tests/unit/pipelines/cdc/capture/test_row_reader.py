"""Rows of a full load are read as the driver reads them, only faster."""

from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st
from pymysql import connections
from pymysql.protocol import MysqlPacket

from pipelines.cdc.capture.connectors.chunks import row_reader

DRIVERS: Any = connections.MySQLResult


class Result:
    """What a result knows of two columns of text, one of bytes, and what it reads with it."""

    converters = (("utf8", None), (None, None), ("ascii", None))
    read = DRIVERS._read_row_from_packet


def sized(value: bytes | None) -> bytes:
    """Return a value as the protocol writes it."""
    if value is None:
        return b"\xfb"
    n = len(value)
    if n < 251:
        return bytes((n,)) + value
    head, width = (b"\xfc", 2) if n < 1 << 16 else (b"\xfd", 3)
    return head + n.to_bytes(width, "little") + value


texts = st.none() | st.text(max_size=400)


@given(texts, st.none() | st.binary(max_size=400), st.none() | st.integers().map(str))
@example("x" * 250, b"y" * 251, None)
@example("x" * 65_535, b"y" * 65_536, "")
def test_a_row_is_read_as_the_driver_reads_it(
    text: str | None, data: bytes | None, number: str | None
) -> None:
    encoded = [one if one is None else one.encode() for one in (text, number)]
    packet = b"".join(map(sized, (encoded[0], data, encoded[1])))
    result: Any = Result()
    found = row_reader(result)(MysqlPacket(packet, "utf8"))
    assert found == (text, data, number)
    assert found == result.read(MysqlPacket(packet, "utf8"))
