"""People who do what only a lifecycle admin may: python -m stack.lake.guarded LAKES_JSON.

The demo's guard is in audit mode, so all of it happens and stands on the portal's pages. Everything
is done to one table that is made for it and dropped in the end: the lake is as it was.
"""

import sys
from dataclasses import replace
from pathlib import Path

from portal.connectors.lake_config import LakeConfig, load_lakes
from portal.connectors.metastore import Metastore
from portal.lake.ids import LakeId
from portal.lake.names import TableName
from stack.lake.text_table import text_partition, text_table_make
from stack.stack import LAKE

SCRATCH = TableName(LakeId(LAKE), "sales", "scratch")


def as_(config: LakeConfig, user: str) -> Metastore:
    """Return a connection of somebody who calls themselves `user`."""
    return Metastore.connect(replace(config, hadoop_user=user))


def make(metastore: Metastore, *, owner: str) -> None:
    """Make the table, to be kept for ever, with three partitions."""
    storage = text_table_make(
        metastore,
        SCRATCH,
        columns={"id": "bigint", "n": "int"},
        key="dt",
        owner=owner,
        parameters={"LEVEL": "0", "TTL": "60"},
    )
    metastore.add_partitions(
        [
            text_partition(SCRATCH, day, like=storage, location=f"{storage.location}/dt={day}")
            for day in ("2026-11-19", "2026-11-20", "2026-11-21")
        ],
        if_not_exists=False,
    )


def main() -> None:
    """Keep for ever, change, drop: none of them by an admin."""
    config = load_lakes(Path(sys.argv[1]))[LAKE]
    with Metastore.connect(config) as metastore:
        if metastore.table_or_none(SCRATCH) is not None:  # a broken-off run left it
            metastore.drop_table(SCRATCH, delete_data=True)
    with as_(config, "bob") as bob:
        make(bob, owner="bob")
    with as_(config, "carol") as carol:
        table = carol.table(SCRATCH)
        table.parameters |= {"LEVEL": "1", "TTL": "1"}
        carol.alter_table_keeping_times(SCRATCH, table)
        carol.drop_table(SCRATCH, delete_data=True)


if __name__ == "__main__":
    main()
