"""Plain text tables of the demo that are made over the metastore's Thrift, without Spark."""

from collections.abc import Mapping

from pymetastore.hive_metastore import ttypes

from portal.connectors.metastore import Metastore
from portal.lake.names import TableName


def text_table_make(
    metastore: Metastore,
    name: TableName,
    *,
    columns: Mapping[str, str],
    key: str,
    owner: str,
    parameters: Mapping[str, str] | None = None,
) -> ttypes.StorageDescriptor:
    """Make a managed table in its database's directory; `columns` are names and their types."""
    database = metastore.database(name.db)
    storage = ttypes.StorageDescriptor(
        cols=[ttypes.FieldSchema(column, kind, "") for column, kind in columns.items()],
        location=f"{database.locationUri}/{name.table}",
        inputFormat="org.apache.hadoop.mapred.TextInputFormat",
        outputFormat="org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
        serdeInfo=ttypes.SerDeInfo(
            serializationLib="org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe", parameters={}
        ),
        parameters={},
    )
    metastore.create_table(
        ttypes.Table(
            tableName=name.table,
            dbName=name.db,
            owner=owner,
            sd=storage,
            partitionKeys=[ttypes.FieldSchema(key, "string", "")],
            parameters=dict(parameters or {}),
            tableType="MANAGED_TABLE",
        )
    )
    return storage


def text_partition(
    name: TableName, value: str, *, like: ttypes.StorageDescriptor, location: str
) -> ttypes.Partition:
    """Return a partition that is stored as its table is, at its own place."""
    return ttypes.Partition(
        values=[value],
        dbName=name.db,
        tableName=name.table,
        sd=ttypes.StorageDescriptor(**{**vars(like), "location": location}),
        parameters={},
    )
