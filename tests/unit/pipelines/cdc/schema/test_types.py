"""Types: every one of MySQL and MariaDB is read, and has its place in the lake."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.schema.domain.types import Kind, lake_note, lake_type, parse_type
from portal.lake.errors import RuleViolation

LAKE = {
    "tinyint(4)": "int",
    "tinyint(1)": "int",
    "tinyint(3) unsigned zerofill": "int",
    "smallint(6)": "int",
    "mediumint(8) unsigned": "int",
    "int(11)": "int",
    "int": "int",
    "INT UNSIGNED": "bigint",
    "int(10) unsigned zerofill": "bigint",
    "int zerofill": "bigint",
    "integer": "int",
    "bigint(20)": "bigint",
    "bigint(20) unsigned": "decimal(20,0)",
    "serial": "decimal(20,0)",
    "bool": "int",
    "boolean": "int",
    "decimal(10,2)": "decimal(10,2)",
    "decimal( 10 , 2 ) unsigned": "decimal(10,2)",
    "decimal": "decimal(10,0)",
    "numeric(5)": "decimal(5,0)",
    "dec(5,1)": "decimal(5,1)",
    "fixed(38,30)": "decimal(38,30)",
    "decimal(39,0)": "string",
    "decimal(65,30)": "string",
    "float": "float",
    "float(7,4)": "float",
    "float(24)": "float",
    "float(25)": "double",
    "float unsigned": "float",
    "double": "double",
    "double(10,2) unsigned": "double",
    "double precision": "double",
    "real": "double",
    "bit(1)": "boolean",
    "bit": "boolean",
    "bit(63)": "bigint",
    "bit(64)": "decimal(20,0)",
    "char(5)": "string",
    "char": "string",
    "char(5) character set latin1 collate latin1_bin": "string",
    "varchar(255)": "string",
    "national varchar(10)": "string",
    "nchar varying(10)": "string",
    "character varying(10)": "string",
    "tinytext": "string",
    "text": "string",
    "mediumtext": "string",
    "longtext": "string",
    "long varchar": "string",
    "enum('a','b')": "string",
    "set('x','y')": "string",
    "json": "string",
    "date": "date",
    "datetime": "timestamp",
    "datetime(6)": "timestamp",
    "datetime /* mariadb-5.3 */": "timestamp",
    "timestamp(3)": "timestamp",
    "time": "string",
    "time(6)": "string",
    "year(4)": "int",
    "year": "int",
    "binary(16)": "binary",
    "char(5) byte": "binary",
    "varbinary(8)": "binary",
    "tinyblob": "binary",
    "blob": "binary",
    "mediumblob": "binary",
    "longblob": "binary",
    "long varbinary": "binary",
    "geometry": "binary",
    "point": "binary",
    "multipolygon": "binary",
    "geometrycollection": "binary",
    "vector(3)": "binary",
    "uuid": "string",
    "inet4": "string",
    "inet6": "string",
}


@pytest.mark.parametrize(("text", "lake"), LAKE.items(), ids=str)
def test_every_type_has_its_type_in_the_lake(text: str, lake: str) -> None:
    assert lake_type(parse_type(text)) == lake
    assert lake_type(parse_type(text.upper())) == lake


@pytest.mark.parametrize(
    "text",
    [
        "",
        "money",
        "int(",
        "int(x)",
        "varchar(10) /*M!100301 COMPRESSED*/",
        "1",
        "enum",
        "(int)",
        "a(b)",
    ],
)
def test_what_is_no_type_is_refused(text: str) -> None:
    if text == "enum":
        assert parse_type(text).members == ()
        return
    with pytest.raises(RuleViolation) as refused:
        parse_type(text)
    assert refused.value.code == "cdc.type"


def test_members_are_those_that_the_server_has() -> None:
    text = r"enum('a','b''c','d\\e,','é(',')','','unsigned')"
    assert parse_type(text).members == ("a", "b'c", "d\\e,", "é(", ")", "", "unsigned")
    assert parse_type("set('x', 'COMPRESSED')").members == ("x", "COMPRESSED")


@given(st.lists(st.text(st.characters(exclude_characters="\\\0"), max_size=5), max_size=6))
def test_quoted_members_read_as_they_were(members: list[str]) -> None:
    inside = ",".join("'" + one.replace("'", "''") + "'" for one in members)
    assert parse_type(f"enum({inside})").members == tuple(members)


def test_bounds_are_those_of_mysql() -> None:
    assert parse_type("tinyint").bounds == (-128, 127)
    assert parse_type("mediumint unsigned").bounds == (0, 16_777_215)
    assert parse_type("bigint unsigned").bounds == (0, 18_446_744_073_709_551_615)
    assert parse_type("bit(5)").bounds == (0, 31)


@given(st.integers(1, 65), st.data())
def test_decimals_keep_their_digits_or_say_that_they_become_text(
    precision: int, data: st.DataObject
) -> None:
    scale = data.draw(st.integers(0, min(precision, 30)))
    column = parse_type(f"decimal({precision},{scale})")
    assert (column.kind, column.size, column.scale) == (Kind.DECIMAL, precision, scale)
    if precision <= 38:
        assert (lake_type(column), lake_note(column)) == (f"decimal({precision},{scale})", "")
    else:
        assert lake_type(column) == "string"
        assert "38" in lake_note(column)


def test_where_the_lake_differs_it_is_said() -> None:
    assert "string" in lake_note(parse_type("time"))
    assert "UTC" in lake_note(parse_type("datetime"))
    assert lake_note(parse_type("timestamp")) == lake_note(parse_type("int")) == ""
