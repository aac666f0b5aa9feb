"""What a pipeline may be: every border has its rule, and its field is named."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.control.domain.spec import (
    ChangelogKind,
    PipelineSpec,
    TableType,
    patterns_of,
    spec_of,
    target_name,
)
from portal.lake.errors import RuleViolation
from portal.lake.names import check_identifier

GOOD: dict[str, Any] = {
    "name": "shop",
    "lake": "main",
    "host": "db1.example.org",
    "port": 3306,
    "user": "cdc",
    "password_name": "SHOP",
    "server_id": 7001,
    "patterns": "shop.*",
    "target_db": "ods",
    "table_type": "MERGE_ON_READ",
    "changelog": "DIRECTORY",
    "ssl_ca": "",
}


def test_a_pipeline_is_read_from_its_fields() -> None:
    spec = spec_of(GOOD)
    assert spec.patterns == ("shop.*",)
    assert spec.table_type is TableType.MERGE_ON_READ
    assert spec.changelog is ChangelogKind.DIRECTORY
    assert spec.password_variable == "LAKEWARDEN_CDC_PASSWORD_SHOP"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("name", "Shop"),
        ("name", "-shop"),
        ("name", "shop\n"),
        ("host", ""),
        ("host", "db1 example"),
        ("host", "db1/../x"),
        ("port", 0),
        ("port", 65536),
        ("user", ""),
        ("user", "a\x00"),
        ("user", "u" * 81),
        ("password_name", "shop"),
        ("password_name", "../SECRET"),
        ("password_name", ""),
        ("server_id", 0),
        ("server_id", 1 << 32),
        ("ssl_ca", "ca.pem"),
        ("ssl_ca", "/ca\x00"),
        ("patterns", ""),
        ("patterns", "orders"),
        ("patterns", "*.orders"),
        ("patterns", "shop."),
        ("patterns", "s.\x07"),
        ("patterns", ["s.t"] * 201),
    ],
)
def test_what_cannot_be_a_pipeline_is_refused_with_its_field(field: str, value: object) -> None:
    with pytest.raises(RuleViolation) as refused:
        spec_of({**GOOD, field: value})
    assert refused.value.code == "pipeline.spec"
    assert refused.value.fields["field"] == field


def test_a_target_that_the_lake_cannot_name_is_refused() -> None:
    with pytest.raises(RuleViolation, match="database name"):
        spec_of({**GOOD, "target_db": "ODS"})


def test_patterns_come_one_a_line_or_between_commas() -> None:
    assert patterns_of(" shop.a, shop.b\n\nshop.a\n crm.* ") == ("shop.a", "shop.b", "crm.*")


@given(st.lists(st.tuples(st.text(max_size=80), st.text(max_size=300)), max_size=20))
def test_targets_are_names_of_the_lake_and_each_its_own(sources: list[tuple[str, str]]) -> None:
    taken: list[str] = []
    for db, table in sources:
        name = target_name(db, table, taken=taken)
        assert check_identifier(name, kind="table") == name
        assert name not in taken
        taken.append(name)


def test_a_table_keeps_its_name_and_a_second_of_it_gets_its_database_in_front() -> None:
    assert target_name("shop", "Orders", taken=()) == "orders"
    assert target_name("crm", "orders", taken=["orders"]) == "crm_orders"
    assert target_name("crm", "orders", taken=["orders", "crm_orders"]) == "crm_orders_2"


def test_equal_fields_are_equal_pipelines() -> None:
    assert spec_of(GOOD) == spec_of(dict(GOOD))
    assert isinstance(spec_of(GOOD), PipelineSpec)
