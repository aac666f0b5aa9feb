"""Orders that cannot be carried out are refused with what is wrong."""

import re
from typing import Any

import msgspec
import pytest

from pipelines.cdc.applying.domain.hudi_settings import (
    service_settings,
    sync_settings,
    write_settings,
)
from pipelines.cdc.applying.domain.messages import (
    Column,
    Orders,
    PipelineOrder,
    SchemaPlan,
    TableOrder,
    read_orders,
)
from portal.lake.errors import RuleViolation

TABLE = TableOrder(
    id=1,
    db="shop",
    table="carts",
    target_db="lake",
    target_table="carts",
    location="file:/lake/carts",
    columns=(Column("id", "bigint"), Column("day", "string")),
    key=("cart",),
    schemas=(SchemaPlan(1, live={"cart": "id", "day": "day"}),),
)


def orders(**changed: Any) -> Any:
    table = msgspec.structs.replace(TABLE, **changed)
    pipeline = PipelineOrder(1, "file:/log", "file:/work", (table,))
    return msgspec.to_builtins(Orders((pipeline,)))


def test_orders_come_back_as_they_were_written() -> None:
    (pipeline,) = read_orders(orders(partition="day")).pipelines
    assert pipeline.tables == (msgspec.structs.replace(TABLE, partition="day"),)
    assert TABLE.plan(1) is TABLE.schemas[0]
    assert TABLE.plan(2) is None
    assert msgspec.structs.replace(TABLE, schemas=(SchemaPlan(1, is_held=True),)).plan(1) is None


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"columns": (Column("id", "bigint"), Column("id", "string"))}, "twice"),
        ({"columns": (Column("id", "bigint"), Column("_lw_day", "string"))}, "_lw_day"),
        ({"columns": (Column("id", "bigint"), Column("day", "varchar(3)"))}, "varchar(3)"),
        ({"columns": (Column("id", "bigint"), Column("day", "decimal(39,0)"))}, "decimal(39,0)"),
        ({"columns": (Column("id", "bigint"),)}, "['day']"),
        ({"partition": "month"}, "month"),
        ({"key": ()}, "no key"),
        ({"key": ("cart", "line")}, "['line']"),
        ({"kind": "COPY"}, "COPY"),
        ({"protections": {"month": "redact"}}, "no column month to protect"),
        ({"protections": {"id": "deterministic:PII"}}, "cannot be deterministic:PII and bigint"),
        ({"protections": {"day": "secret"}}, "is none of"),
        ({"protections": {"day": "redact"}, "partition": "day"}, "not redact"),
    ],
)
def test_orders_with_a_fault_are_refused(changed: dict[str, Any], said: str) -> None:
    with pytest.raises(RuleViolation, match=re.escape(said)):
        read_orders(orders(**changed))


def test_a_table_says_of_services_what_its_writer_does() -> None:
    alone = write_settings(TABLE, parallelism=2)
    assert alone["hoodie.compact.inline"] == "false"
    assert alone["hoodie.compact.schedule.inline"] == "true"
    assert alone["hoodie.write.concurrency.mode"] == "single_writer"
    lock = {"hoodie.write.lock.provider": "org.apache.Lock", "hoodie.write.lock.expire": "1"}
    shared = msgspec.structs.replace(
        TABLE, lock=lock, kind="COW", settings={"hoodie.clean.automatic": "false", "hoodie.x": "1"}
    )
    settings = write_settings(shared, parallelism=2)
    assert settings["hoodie.write.concurrency.mode"] == "optimistic_concurrency_control"
    assert settings["hoodie.clean.failed.writes.policy"] == "LAZY"
    assert settings["hoodie.x"] == "1"
    assert "hoodie.compact.schedule.inline" not in settings
    assert lock.items() <= service_settings(shared).items()
    told = sync_settings(shared, "thrift://x:1")["hoodie.datasource.hive_sync.table_properties"]
    assert "hoodie.clean.automatic=false" in told.splitlines()
    assert "hoodie.write.lock.provider=org.apache.Lock" in told.splitlines()
    assert sync_settings(msgspec.structs.replace(TABLE, is_synced=False), "thrift://x:1") == {}


def test_a_key_of_many_columns_has_the_generator_for_it() -> None:
    def generator(**changed: Any) -> str:
        settings = write_settings(msgspec.structs.replace(TABLE, **changed), parallelism=1)
        return settings["hoodie.datasource.write.keygenerator.class"].rpartition(".")[2]

    two = {"key": ("cart", "day"), "schemas": TABLE.schemas}
    assert generator() == "NonpartitionedKeyGenerator"
    assert generator(partition="day") == "SimpleKeyGenerator"
    assert generator(partition="day", **two) == "ComplexKeyGenerator"
