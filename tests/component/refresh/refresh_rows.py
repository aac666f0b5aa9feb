"""Rows that tests of the refresh room begin with."""

from datetime import UTC, datetime, timedelta

from portal.lake.ids import LakeId
from portal.lake.names import TableName
from refresh.models import Cluster, ClusterCatalog, ClusterFrontEnd, DeclaredTable

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
MAIN = LakeId("main")
SALES = TableName(MAIN, "shop", "sales")


def at(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def cluster(name: str = "bi", *, catalog: str = "hive", n_fes: int = 2) -> Cluster:
    row = Cluster.objects.create(
        name=name,
        addresses=["127.0.0.2:9030"],
        user="svc",
        password_file="/etc/lakewarden/bi.password",
        added_by="olga",
        added_at=NOW,
    )
    if catalog:
        ClusterCatalog.objects.create(
            cluster=row, name=catalog, uris="thrift://127.0.0.1:9083", lake="main"
        )
    for number in range(n_fes):
        ClusterFrontEnd.objects.create(
            cluster=row,
            name=f"{name}-fe{number}",
            host=f"127.0.0.{number + 2}",
            query_port=9030,
            is_alive=True,
            is_leader=number == 0,
            version="3.5.0",
            listed_at=NOW,
        )
    return row


def declared(row: Cluster, table: str, hive: TableName = SALES) -> DeclaredTable:
    return DeclaredTable.objects.create(
        cluster=row,
        db="ext",
        table=table,
        resource="hive0",
        lake=str(hive.lake),
        hive_db=hive.db,
        hive_table=hive.table,
    )
