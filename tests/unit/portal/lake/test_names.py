"""Names: grammar, quoting, and Hive's escapes there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.lake.errors import RuleViolation
from portal.lake.ids import LakeId
from portal.lake.names import (
    DEFAULT_PARTITION,
    PartitionName,
    TableName,
    escape_path_name,
    quoted,
    unescape_path_name,
)

MAIN = LakeId("main")
# Half of the texts are made of what escapes are made of, or they would hardly ever meet.
texts = st.one_of(st.text(), st.text(alphabet="%0123aAfF=/é"))
keys = st.text(min_size=1, max_size=8)
values = st.one_of(
    st.none(), st.text(min_size=1, max_size=12).filter(lambda v: v != DEFAULT_PARTITION)
)


@given(texts)
def test_unescaping_undoes_escaping(text: str) -> None:
    assert unescape_path_name(escape_path_name(text)) == text


def test_the_escaped_characters_are_hives() -> None:
    escaped = {chr(code) for code in range(256) if len(escape_path_name(chr(code))) == 3}
    assert escaped == {*map(chr, range(1, 32)), *"\"#%'*/:=?\\{[]^", "\x7f"}


@given(texts)
def test_an_escaped_value_is_one_path_segment_and_one_side_of_an_equals_sign(text: str) -> None:
    assert not set("/=") & set(escape_path_name(text))


@given(st.lists(st.tuples(keys, values), min_size=1, max_size=4))
def test_a_partition_name_survives_being_written_and_read(
    pairs: list[tuple[str, str | None]],
) -> None:
    name = PartitionName(tuple(k for k, _ in pairs), tuple(v for _, v in pairs))
    assert PartitionName.parse(str(name)) == name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dt=2026-11-21/h=03", (("dt", "h"), ("2026-11-21", "03"))),
        (f"dt={DEFAULT_PARTITION}", (("dt",), (None,))),
        ("dt=", (("dt",), (None,))),
        ("city=S%3Dão %25", (("city",), ("S=ão %",))),
        ("note=100%", (("note",), ("100%",))),
        ("a=b=c", (("a",), ("b=c",))),
    ],
)
def test_hive_partition_names_are_read(
    text: str, expected: tuple[tuple[str, ...], tuple[str | None, ...]]
) -> None:
    name = PartitionName.parse(text)
    assert (name.keys, name.values) == expected


@pytest.mark.parametrize("text", ["", "dt", "=x", "dt=1/", "dt=1//h=2"])
def test_what_is_no_partition_name_is_refused(text: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        PartitionName.parse(text)
    assert caught.value.code == "name.partition"


def test_null_is_stored_under_hives_default_name() -> None:
    assert PartitionName(("dt",), (None,)).metastore_values == [DEFAULT_PARTITION]


@pytest.mark.parametrize("bad", ["", "Sales", "a b", "a.b", "a`b", "x;drop", "é", "a\n", "x" * 129])
def test_a_name_outside_the_grammar_is_shown_but_not_acted_on(bad: str) -> None:
    with pytest.raises(RuleViolation) as caught:
        TableName(MAIN, "sales", bad)
    assert caught.value.code == "name.grammar"
    with pytest.raises(RuleViolation):
        TableName(MAIN, bad, "orders")


def test_tables_are_read_and_quoted() -> None:
    table = TableName.parse(MAIN, "sales.orders_2026")
    assert (str(table), table.sql) == ("sales.orders_2026", "`sales`.`orders_2026`")
    with pytest.raises(RuleViolation):
        TableName.parse(MAIN, "orders")


@given(st.text())
def test_quoting_leaves_no_single_back_quote_inside(text: str) -> None:
    inner = quoted(text)[1:-1]
    assert "`" not in inner.replace("``", "")


@pytest.mark.parametrize("bad", ["", "Main", "9lives", "a_b", "a" * 33, "main\n"])
def test_a_lake_has_a_short_plain_name(bad: str) -> None:
    with pytest.raises(RuleViolation):
        LakeId(bad)


def test_a_stored_empty_value_is_named_as_the_metastore_names_it() -> None:
    for stored in ("", DEFAULT_PARTITION):
        assert str(PartitionName.stored(["dt", "h"], [stored, "a=b"])) == (
            f"dt={DEFAULT_PARTITION}/h=a%3Db"
        )
