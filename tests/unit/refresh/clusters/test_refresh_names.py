"""Names of StarRocks: what can be written, which Hive table is meant, what a cluster declares."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from refresh.clusters.domain.column_drift import column_drift
from refresh.clusters.domain.external_tables import (
    read_catalog,
    read_resource_table,
    read_resources,
)
from refresh.clusters.domain.metastores import addresses, lake_of
from refresh.core.domain import statements
from refresh.core.domain.names import ExternalTable, literal, quoted
from refresh.core.domain.versions import Dialect, Version
from tests.unit.refresh.refresh_names import BI, IN_CATALOG, LAKE, ON_RESOURCE, odd_texts


def starrocks_reads(written: str) -> str:
    """Read a literal as the grammar of StarRocks does: doubled quotes first, then back slashes."""
    assert written[0] == written[-1] == "'"
    inner = written[1:-1].replace("''", "'")
    read, position = "", 0
    while position < len(inner):
        if inner[position] == "\\" and position + 1 < len(inner):
            position += 1
        read += inner[position]
        position += 1
    return read


def ends_of_literal(written: str) -> int:
    """Find where the lexer sees the end of a literal that begins at 0."""
    position = 1
    while position < len(written):
        if written[position] == "\\":
            position += 2
        elif written[position] == "'":
            if written[position + 1 : position + 2] != "'":
                return position
            position += 2
        else:
            position += 1
    return -1


@given(odd_texts)
def test_a_literal_says_exactly_its_text_or_is_refused(text: str) -> None:
    try:
        written = literal(text)
    except RuleViolation:
        assert not text.isprintable()
        return
    assert starrocks_reads(written) == text
    assert ends_of_literal(written) == len(written) - 1


@given(odd_texts)
def test_a_quoted_name_cannot_leave_its_quotes(name: str) -> None:
    try:
        written = quoted(name)
    except RuleViolation:
        assert not name or "`" in name or not name.isprintable()
        return
    assert written.count("`") == 2
    assert written.strip("`") == name


@given(catalog=odd_texts, db=odd_texts, table=odd_texts)
def test_a_table_that_cannot_be_written_is_no_table(catalog: str, db: str, table: str) -> None:
    parts = [*filter(None, [catalog]), db, table]
    if any(not part or "`" in part or not writable(part) for part in parts):
        with pytest.raises(RuleViolation):
            ExternalTable(BI, catalog, db, table)
    else:
        assert ExternalTable(BI, catalog, db, table).sql.replace("`", "") == ".".join(parts)


def writable(text: str) -> bool:
    try:
        return bool(literal(text))
    except RuleViolation:
        return False


def test_the_statements_are_those_of_the_grammar() -> None:
    table = statements.refresh(IN_CATALOG, dialect=Dialect.CATALOGS)
    assert table == "REFRESH EXTERNAL TABLE `hive`.`shop`.`sales`"
    named = ["dt=2024-01-01/hr=00", "dt=2024-01-01/hr=01"]
    some = statements.refresh(ON_RESOURCE, dialect=Dialect.RESOURCES, partitions=named)
    assert some == (
        "REFRESH EXTERNAL TABLE `ext`.`sales_in_sr` "
        "PARTITION ('dt=2024-01-01/hr=00', 'dt=2024-01-01/hr=01')"
    )
    with pytest.raises(RuleViolation, match=r"2\.3 or later"):
        statements.refresh(IN_CATALOG, dialect=Dialect.RESOURCES)
    assert statements.explain_costs(IN_CATALOG) == (
        "EXPLAIN COSTS SELECT * FROM `hive`.`shop`.`sales`"
    )
    assert statements.show_tables("shop", catalog="hive") == "SHOW TABLES FROM `hive`.`shop`"
    assert statements.show_create_catalog("hive") == "SHOW CREATE CATALOG `hive`"
    assert statements.show_create_table(ON_RESOURCE) == "SHOW CREATE TABLE `ext`.`sales_in_sr`"
    assert statements.frontend_config("%hms%") == "ADMIN SHOW FRONTEND CONFIG LIKE '%hms%'"
    assert statements.set_query_timeout(0) == "SET query_timeout = 1"


@pytest.mark.parametrize(
    ("text", "release", "dialect"),
    [
        ("2.2.9-fc74d56", (2, 2, 9), Dialect.RESOURCES),
        ("2.3.0", (2, 3, 0), Dialect.CATALOGS),
        ("3.5.2-abcdef1", (3, 5, 2), Dialect.CATALOGS),
        ("v3.3", (3, 3, 0), Dialect.CATALOGS),
        ("10.0.1", (10, 0, 1), Dialect.CATALOGS),
        ("main-61c8aa8", None, Dialect.CATALOGS),
        ("", None, Dialect.CATALOGS),
    ],
)
def test_a_version_is_read_and_an_unreadable_one_counts_as_the_newest(
    text: str, release: tuple[int, int, int] | None, dialect: Dialect
) -> None:
    version = Version.read(text)
    assert (version.release, version.dialect, str(version)) == (release, dialect, text)


@given(st.text())
def test_no_text_is_refused_as_a_version(text: str) -> None:
    assert Version.read(text).dialect in Dialect


def test_a_metastore_is_known_by_any_of_its_addresses() -> None:
    lakes = {LAKE: ["thrift://hms1:9083,thrift://hms2:9083"], LakeId("x"): ["thrift://old:9084/"]}
    assert addresses([" thrift://HMS1 ", ""]) == {"hms1:9083"}
    assert lake_of("thrift://hms2:9083", lakes) == LAKE
    assert lake_of("thrift://old:9084", lakes) == LakeId("x")
    assert lake_of("thrift://elsewhere:9083", lakes) is None
    with pytest.raises(RuleViolation, match="more than one lake"):
        lake_of("thrift://hms1:9083,thrift://old:9084", lakes)


def test_what_a_cluster_declares_is_read() -> None:
    rows = [
        {"Name": "h", "ResourceType": "hive", "Key": "hive.metastore.uris", "Value": "thrift://a"},
        {"Name": "h", "ResourceType": "hive", "Key": "other", "Value": "x"},
        {"Name": "s", "ResourceType": "spark", "Key": "hive.metastore.uris", "Value": "thrift://b"},
    ]
    assert read_resources(rows) == {"h": "thrift://a"}
    ddl = (
        'CREATE EXTERNAL CATALOG `hive`\nCOMMENT "a \\"fine\\" one"\nPROPERTIES '
        '("type"  =  "hive",\n"hive.metastore.uris"  =  "thrift://hms:9083"\n)'
    )
    assert read_catalog(ddl) == "thrift://hms:9083"
    assert read_catalog(ddl.replace('"hive",', '"iceberg",')) is None
    assert read_catalog("nonsense") is None


def test_a_table_on_a_resource_is_read_with_its_columns() -> None:
    ddl = (
        "CREATE EXTERNAL TABLE `sales_in_sr` (\n"
        '  `id` bigint(20) NULL COMMENT "a, (b) \\"c\\"",\n'
        '  `price` decimal64(10, 2) NULL COMMENT "",\n'
        "  `tags` ARRAY<varchar(65533)> NULL,\n"
        '  `dt` varchar(10) NULL COMMENT ""\n'
        ') ENGINE=HIVE \nCOMMENT "PARTITION BY (dt)"\nPROPERTIES (\n'
        '"database" = "shop",\n"table" = "sales",\n"resource" = "hive0",\n'
        '"hive.metastore.uris"  =  "thrift://hms:9083"\n);'
    )
    table = read_resource_table(ddl)
    assert table is not None
    assert (table.resource, table.hive_db, table.hive_table) == ("hive0", "shop", "sales")
    assert table.columns == (
        ("id", "bigint(20)"),
        ("price", "decimal64(10, 2)"),
        ("tags", "array<varchar(65533)>"),
        ("dt", "varchar(10)"),
    )
    hive = [("ID", "bigint"), ("price", "decimal(10,2)"), ("tags", "array<string>")]
    assert not column_drift(starrocks=table.columns, hive=[*hive, ("dt", "string")])
    drift = column_drift(
        starrocks=table.columns, hive=[("id", "int"), *hive[1:], ("note", "string")]
    )
    assert drift.words == "not in Hive: dt; not in StarRocks: note; of another type: id"
    assert read_resource_table(ddl.replace("ENGINE=HIVE", "ENGINE=MYSQL")) is None
    assert read_resource_table(ddl.replace('"resource"', '"resources"')) is None


@given(st.text(max_size=300))
def test_no_ddl_breaks_the_reading(text: str) -> None:
    read_catalog(f"PROPERTIES ({text})")
    read_resource_table(f"({text}) ENGINE=HIVE PROPERTIES ({text})")
