"""The same row has the same texts, read by a SELECT or from the binary log, whatever its types."""

import pytest

from tests.support.captured import Shop, changes, folded, ordered, schemas

TYPES = {
    "tinyint": ("-128", "127", "0"),
    "tinyint unsigned": ("0", "255"),
    "smallint unsigned": ("65535",),
    "mediumint": ("-8388608", "8388607"),
    "mediumint unsigned": ("16777215",),
    "int unsigned": ("4294967295",),
    "int(7) zerofill": ("42",),
    "bigint": ("-9223372036854775808", "9223372036854775807"),
    "bigint unsigned": ("18446744073709551615",),
    "decimal(65,30)": (
        "-0.000000000000000000000000000001",
        "12345678901234567890123456789012345.5",
    ),
    "decimal(12,0)": ("-1", "0", "999999999999"),
    "decimal(9,9)": ("-0.123456789", "0"),
    "decimal(18,9)": ("-0.5", "100000000.000000001"),
    "float": ("0.1", "16777217", "-3.4028234e38", "1e-45", "1.5"),
    "double": ("0.1", "1e308", "-2.2250738585072014e-308", "123456789.123456789"),
    "bit(1)": ("b'1'", "b'0'"),
    "bit(12)": ("b'101010101010'",),
    "bit(64)": (f"b'{'1' * 64}'",),
    "date": ("'1000-01-01'", "'9999-12-31'", "'0000-00-00'", "'2024-00-00'", "'2024-02-31'"),
    "datetime": ("'0000-00-00'", "'1969-12-31 23:59:59'", "'9999-12-31 23:59:59'"),
    "datetime(3)": ("'2024-02-29 12:34:56.789'", "'2024-02-29 12:34:56'"),
    "datetime(6)": ("'2024-02-29 12:34:56.000001'", "'2024-00-00 00:00:00.5'"),
    "timestamp null": ("'1970-01-01 00:00:01'", "'2038-01-19 03:14:07'", "0"),
    "timestamp(6) null": ("'2024-10-27 02:30:00.123456'",),
    "timestamp(1) null": ("'2024-10-27 02:30:00.1'",),
    "time": ("'-838:59:59'", "'838:59:59'", "'00:00:00'"),
    "time(2)": ("'-00:00:01.55'", "'-01:00:00'", "'12:00:00.01'"),
    "time(6)": ("'-00:00:00.000001'", "'23:59:59.999999'"),
    "year": ("1901", "2155", "0"),
    "enum('a','é','it''s')": ("'é'", "'it''s'", "3", "0"),
    "set('x','y','z z')": ("'z z,x'", "''", "7"),
    "enum('ä','b') character set latin1": ("'ä'",),
    "char(5)": ("'ab  '", "''", "'äöü€😀'"),
    "char(100)": ("repeat('é', 100)",),
    "varchar(20)": ("'  x  '", "'\\n\\t\\0\\''"),
    "varchar(300)": ("repeat('x', 300)",),
    "varchar(9) character set latin1": ("'äé€'", "x'818d8f909d'"),
    "varchar(9) character set latin1 collate latin1_swedish_nopad_ci": ("'ä'",),
    "varchar(9) character set ucs2": ("'äé'",),
    "varchar(9) character set utf16": ("'😀'",),
    "varchar(9) character set gbk": ("'中文'",),
    "varchar(9) character set sjis": ("'日本'",),
    "varchar(9) character set cp1251": ("'Привет'",),
    "varchar(9) collate utf8mb4_uca1400_ai_ci": ("'ß'",),
    "text": ("repeat('ü', 1000)", "''"),
    "longtext": ("'x'",),
    "json": ("""'{"b": 1.0, "a": [null, "ü\\\\n"]}'""",),
    "binary(5)": ("'ab'", "x'0000000000'"),
    "binary(255)": ("x'00ff'",),
    "varbinary(5)": ("x'6100'", "''"),
    "tinyblob": ("x'00ff'",),
    "blob": ("repeat(x'fe', 70)", "''"),
    "mediumblob": ("x'01'",),
    "longblob": ("repeat(x'ab', 100000)",),
    "point": ("point(1, -2.5)",),
    "geometry": ("st_geomfromtext('LINESTRING(0 0,1 1)', 4326)",),
    "uuid": ("'123e4567-e89b-12d3-a456-426614174000'", "'00000000-0000-0000-0000-000000000000'"),
    "inet6": ("'::1'", "'::ffff:1.2.3.4'", "'2001:db8::ff00:42:8329'", "'::'"),
    "inet4": ("'1.2.3.4'", "'0.0.0.0'"),
}


@pytest.fixture
def table(shop: Shop) -> Shop:
    """One table that has a column of each type, and some that the server computes or hides."""
    columns = [f"c{n} {kind}" for n, kind in enumerate(TYPES)]
    shop.run(
        "set sql_mode = ''",
        "set time_zone = '+05:30'",
        "create table t (id int primary key, "
        + ", ".join(columns)
        + ", sum_of int as (id + 1) virtual, kept varchar(20) as (concat('é', id)) stored,"
        " hidden int invisible default 7)",
    )
    return shop


def fill(shop: Shop) -> None:
    most = max(map(len, TYPES.values()))
    for n in range(most):
        values = [values[n] if n < len(values) else "null" for values in TYPES.values()]
        names = ", ".join(f"c{place}" for place in range(len(TYPES)))
        shop.run(f"insert into t (id, {names}) values ({n}, {', '.join(values)})")


def test_a_row_has_the_same_texts_from_a_select_and_from_the_log(table: Shop) -> None:
    table.capture(name="from log")
    fill(table)
    table.capture(name="from log")
    table.run("update t set hidden = 8 where id = 1", "delete from t where id = 2")
    log = table.capture(name="from log")
    loaded = table.capture(name="loaded")

    logged = changes(log, "t")
    assert {one.op for one in logged} == {"c", "u", "d"}
    assert {one.op for one in changes(loaded, "t")} == {"r"}
    by_log, by_select = ordered(folded(logged)), ordered(folded(changes(loaded, "t")))
    assert len(by_log) == len(by_select) > 2
    kinds = dict(zip((f"c{n}" for n in range(len(TYPES))), TYPES, strict=True))
    for one, other in zip(by_log, by_select, strict=True):
        assert one.keys() == other.keys()
        for name in one:
            assert one[name] == other[name], kinds.get(name, name)
    by_id = {one["id"]: one for one in by_log}
    assert by_id["1"]["hidden"] == "8"
    assert by_id["1"]["kept"] == "é1"
    assert by_id["1"]["sum_of"] == "2"
    assert len(schemas(log, "t")) == 1, "the log describes the table otherwise than the server"
    before = next(one.before for one in logged if one.op == "d")
    assert before is not None
    assert before["id"] == "2"
