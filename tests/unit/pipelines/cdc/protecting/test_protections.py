"""What the lake gets instead of a plain value, and where that may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.cdc.changes.domain.schemas import Column, TableSchema
from pipelines.cdc.protecting.domain.columns import check_table
from pipelines.cdc.protecting.domain.protections import Method, Protection, masked
from portal.lake.errors import RuleViolation

KEYED = {Method.ENCRYPTED, Method.DETERMINISTIC, Method.HASH}
USERS = TableSchema(
    *("shop", "users", 1, 100),
    (
        Column("id", "int(11)"),
        Column("phone", "varchar(20)"),
        Column("born", "date"),
        Column("height", "double"),
    ),
    ("id",),
)


@pytest.mark.parametrize("method", Method)
def test_a_protection_is_read_as_it_is_written(method: Method) -> None:
    one = Protection(method, "PII" if method in KEYED else "")
    assert Protection.parse(str(one)) == one
    assert one.variable == ("LAKEWARDEN_CDC_KEY_PII" if method in KEYED else "")


@pytest.mark.parametrize(
    "text", ["", "secret", "encrypted", "encrypted:", "encrypted:pii", "plain:PII", "hash:A B"]
)
def test_what_is_no_protection_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as refused:
        Protection.parse(text)
    assert refused.value.code == "cdc.protection"


@pytest.mark.parametrize(
    ("method", "text", "stored"),
    [
        ("plain", "0911222333", "0911222333"),
        ("redact", "0911222333", "xxxx"),
        ("show_last_4", "0911222333", "xxxx2333"),
        ("show_first_4", "0911222333", "0911xxxx"),
        ("show_last_4", "1234567", "xxxx"),
        ("show_first_4", "1234567", "xxxx"),
        ("nullify", "0911222333", None),
        ("year", "1984-05-06", "1984-01-01"),
        ("year", "1984-05-06 10:11:12.131415", "1984-01-01 00:00:00"),
        ("year", "no date 1984-05-06", ""),
    ],
)
def test_a_mask_shows_what_it_says(method: str, text: str, stored: str | None) -> None:
    assert masked(text, Method(method)) == stored


@given(st.text(min_size=5), st.sampled_from(["redact", "show_first_4", "show_last_4"]))
def test_a_mask_never_shows_more_than_four_signs(text: str, method: str) -> None:
    shown = masked(text, Method(method)) or ""
    assert len(shown.replace("xxxx", "", 1)) <= 4


def test_a_key_of_a_table_is_plain_or_deterministic() -> None:
    check_table(USERS, {"id": Protection.parse("deterministic:PII")}, "phone")
    for text in ("encrypted:PII", "hash:PII", "redact", "nullify"):
        for column in ("id", "phone"):
            with pytest.raises(RuleViolation, match=f"{column} of shop.users is of its key"):
                check_table(USERS, {column: Protection.parse(text)}, "phone")


def test_columns_that_a_table_cannot_have_so_are_named() -> None:
    year = Protection(Method.YEAR)
    check_table(USERS, {"born": year})
    with pytest.raises(RuleViolation, match=r"phone of shop\.users is no date"):
        check_table(USERS, {"phone": year})
    with pytest.raises(RuleViolation, match="no column mobile to protect"):
        check_table(USERS, {"mobile": year})
    with pytest.raises(RuleViolation, match="no column day to partition by"):
        check_table(USERS, {}, "day")
    with pytest.raises(RuleViolation, match="cannot be partitioned by height, which is double"):
        check_table(USERS, {}, "height")
