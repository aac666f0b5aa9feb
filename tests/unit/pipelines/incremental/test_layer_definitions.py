"""A layer's definition holds by itself, and its key tells the source's rows apart."""

import msgspec
import pytest

from pipelines.incremental.domain.definitions import (
    Layer,
    Source,
    check_key,
    check_layer,
    read_layer,
    to_parsed,
)
from portal.lake.errors import RuleViolation

GOOD = Layer(
    target="dwd.orders",
    sources=(Source("ods.orders"), Source("ods.shops", is_static=True)),
    key=("id",),
    sql="SELECT o.id, o.at, s.city FROM ods.orders o JOIN ods.shops s ON o.shop = s.id",
    version="at",
    event_time="at",
)


def test_a_definition_is_stored_and_read_back_equal() -> None:
    check_layer(GOOD)
    assert read_layer(to_parsed(GOOD)) == GOOD
    assert (GOOD.changing, GOOD.static) == ("ods.orders", ("ods.shops",))


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"target": "ods.orders"}, "target"),
        ({"sources": (Source("ods.orders"), Source("ods.shops"))}, "sources"),
        ({"sources": (Source("ods.orders", is_static=True),)}, "sources"),
        ({"sources": (Source("ods.orders"), Source("ods.orders", is_static=True))}, "sources"),
        ({"key": ()}, "key"),
        ({"key": ("id", "id")}, "key"),
        ({"key": ("_hoodie_record_key",)}, "key"),
        ({"lateness_minutes": -1}, "lateness_minutes"),
        ({"sql": " "}, "sql"),
        ({"function": "company.orders:paid"}, "sql"),
        ({"sql": "", "function": "os:system"}, "function"),
        ({"sql": "", "function": "company.orders"}, "function"),
    ],
)
def test_a_definition_that_cannot_be_kept_names_its_field(
    changed: dict[str, object], field: str
) -> None:
    with pytest.raises(RuleViolation) as caught:
        check_layer(msgspec.structs.replace(GOOD, **changed))
    assert (caught.value.code, caught.value.fields["field"]) == ("layer.definition", field)


@pytest.mark.parametrize("name", ["Orders", "dwd.Orders", "a.b.c", "dwd.`x`"])
def test_tables_have_names_that_the_portal_acts_on(name: str) -> None:
    with pytest.raises(RuleViolation):
        check_layer(msgspec.structs.replace(GOOD, target=name))


def test_a_function_is_taken_from_a_listed_module() -> None:
    by_function = msgspec.structs.replace(GOOD, sql="", function="company.orders:paid")
    check_layer(by_function, modules=("company.orders",))
    with pytest.raises(RuleViolation, match="LAYER_MODULES"):
        check_layer(by_function, modules=("company.order",))


@pytest.mark.parametrize(
    ("sql", "key", "is_taken"),
    [
        ("SELECT id, n FROM ods.orders", ("id",), True),
        ("SELECT id AS order_id FROM ods.orders", ("order_id",), True),
        ("SELECT id, n FROM ods.orders", ("n",), False),
        ("SELECT n, id % 3 AS id FROM ods.orders", ("id",), False),
        ("SELECT * FROM ods.orders", ("id",), True),
        ("SELECT * FROM ods.orders", ("n",), False),
        (
            "SELECT id, pos FROM ods.orders LATERAL VIEW posexplode(l) AS pos, v",
            ("id", "pos"),
            True,
        ),
    ],
)
def test_the_key_has_the_key_of_the_source(sql: str, key: tuple[str, ...], is_taken: bool) -> None:
    sources = (Source("ods.orders"),)
    layer = msgspec.structs.replace(GOOD, sources=sources, sql=sql, key=key, version="")
    if is_taken:
        check_key(layer, ["id"])
    else:
        with pytest.raises(RuleViolation, match="id") as caught:
            check_key(layer, ["id"])
        assert caught.value.code == "layer.key"
    check_key(msgspec.structs.replace(layer, version="n"), ["id"])
