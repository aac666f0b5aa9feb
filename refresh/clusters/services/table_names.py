"""Reads from a cluster which of its tables represent which Hive tables.

What was read replaces what was known, as a set. Where a metastore does not answer, the names still
count, and what was known of drifted columns stays with its age.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from portal.access.lakes import all_lakes, get_lake
from portal.connectors.metastore import Metastore
from portal.lake.errors import ExternalFailure, PortalError, RuleViolation
from portal.lake.ids import LakeId
from portal.lake.lines import fitted
from portal.lake.names import TableName
from refresh.clusters.domain.column_drift import column_drift
from refresh.clusters.domain.metastores import lake_of
from refresh.clusters.models import CATALOG_LENGTH, NAME_LENGTH
from refresh.clusters.services.fe_client import connected, members_of
from refresh.clusters.services.front_ends import lock, login_of, problem_keep
from refresh.core.connectors.front_end import FrontEndClient, failure
from refresh.core.domain.answers import Answer, ErrorKind
from refresh.core.domain.names import ClusterId, ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster, ClusterCatalog, DeclaredTable

_SYSTEM = frozenset({"information_schema", "_statistics_", "sys", "starrocks_monitor"})
# What was listed a moment ago may be gone when it is looked at.
_GONE = tuple(f"starrocks.{one.lower()}" for one in (ErrorKind.UNLINKED, ErrorKind.NAME_UNKNOWN))
_HIVE_DB_LENGTH = 128


@dataclass(frozen=True, slots=True)
class Names:
    """What a cluster says of its names, and what of it could not be taken in."""

    catalogs: list[ClusterCatalog]
    declared: list[DeclaredTable]
    problems: list[str]


def names_read(cluster: Cluster, *, now: datetime) -> None:
    """Read the names of a cluster from a front end that lives; what fails is kept as the problem.

    Nothing that was known is taken away unless a front end answered everything.
    """
    try:
        names = _ask(cluster)
    except PortalError as error:
        problem_keep(cluster, "Names", error.message)
        return
    problems = names.problems + drift_find(names.declared, cluster=cluster, now=now)
    with transaction.atomic():
        locked = lock(cluster)
        if locked is None:
            return
        locked.catalogs.all().delete()
        locked.declared.all().delete()
        ClusterCatalog.objects.bulk_create(names.catalogs)
        DeclaredTable.objects.bulk_create(names.declared, batch_size=500)
        cluster.names_read_at = locked.names_read_at = now
        locked.save(update_fields=["names_read_at"])
    problem_keep(cluster, "Names", "; ".join(problems))


def lake_behind(uris: str) -> str:
    """Return the lake whose metastore the addresses name; empty if none is governed here.

    Raises:
        RuleViolation: two lakes have it.
    """
    lakes = {LakeId(name): [config.metastore_uri] for name, config in all_lakes().items()}
    found = lake_of(uris, lakes)
    return str(found) if found is not None else ""


def drift_find(tables: Iterable[DeclaredTable], *, cluster: Cluster, now: datetime) -> list[str]:
    """Compare declared columns with the metastore's; returns what kept it from asking."""
    _remember(tables, cluster)
    problems = []
    by_lake: dict[str, list[DeclaredTable]] = {}
    for table in tables:
        if table.lake:
            by_lake.setdefault(table.lake, []).append(table)
    for lake, its in sorted(by_lake.items()):
        try:
            with Metastore.connect(get_lake(lake)) as metastore:
                for table in its:
                    table.drift, table.drift_at = _drift(table, metastore), now
        except ExternalFailure as error:
            problems.append(f"columns were not compared, lake {lake}: {error.message}")
    return problems


def _remember(tables: Iterable[DeclaredTable], cluster: Cluster) -> None:
    before = {(row.db, row.table): row for row in cluster.declared.all()}
    for table in tables:
        known = before.get((table.db, table.table))
        if known is not None and known.columns == table.columns:
            table.drift, table.drift_at = known.drift, known.drift_at


def _drift(table: DeclaredTable, metastore: Metastore) -> str:
    try:
        name = TableName(LakeId(table.lake), table.hive_db, table.hive_table)
    except RuleViolation as error:
        return error.message
    hive = metastore.table_or_none(name)
    if hive is None:
        return "The Hive table is not there."
    fields = [*hive.sd.cols, *(hive.partitionKeys or [])]
    theirs = [(field.name, field.type) for field in fields]
    ours = [(column, kind) for column, kind in table.columns]
    return column_drift(starrocks=ours, hive=theirs).words


# -- asking --------------------------------------------------------------------------------


def _ask(cluster: Cluster) -> Names:
    failed: list[str] = []
    for member, client in connected(members_of(cluster), login=login_of(cluster)):
        if isinstance(client, Answer):
            failed.append(failure(client, place=str(member.place)).message)
            continue
        if member.dialect is Dialect.RESOURCES:
            return _declared(cluster, client)
        return _catalogs(cluster, client)
    raise ExternalFailure(
        "cluster.no_answer",
        "; ".join(failed) or "No address of a front end is known.",
        service="starrocks",
        retryable=True,
    )


def _catalogs(cluster: Cluster, client: FrontEndClient) -> Names:
    rows: list[ClusterCatalog] = []
    problems: list[str] = []
    for name, uris in client.catalogs().items():
        if len(name) > CATALOG_LENGTH:
            problems.append(f"the catalog {name[:40]}… has a name longer than {CATALOG_LENGTH}")
            continue
        lake = _lake(uris, problems)
        rows.append(ClusterCatalog(cluster=cluster, name=name, uris=uris, lake=lake))
    return Names(rows, [], problems)


def _lake(uris: str, problems: list[str]) -> str:
    try:
        return lake_behind(uris)
    except RuleViolation as error:
        problems.append(error.message)
        return ""


def _declared(cluster: Cluster, client: FrontEndClient) -> Names:
    problems: list[str] = []
    lakes = {name: _lake(uris, problems) for name, uris in client.resources().items()}
    rows: list[DeclaredTable] = []
    for db in client.databases():
        if db in _SYSTEM:
            continue
        try:
            for name in client.tables(db):
                rows += _one(cluster, client, (db, name), lakes)
        except (RuleViolation, ExternalFailure) as error:
            if error.code not in (*_GONE, "starrocks.name"):
                raise
            problems.append(f"{db} was not read: {error.message}")
    return Names([], rows, problems)


def _one(
    cluster: Cluster, client: FrontEndClient, name: tuple[str, str], lakes: dict[str, str]
) -> list[DeclaredTable]:
    """Return the row of a table on a resource; nothing of any other kind, or of one just gone."""
    external = ExternalTable(ClusterId(cluster.name), "", *name)
    try:
        found = client.resource_table(external)
    except ExternalFailure as error:
        if error.code not in _GONE:
            raise
        return []
    if found is None:
        return []
    row = DeclaredTable(
        cluster=cluster,
        db=external.db,
        table=external.table,
        resource=fitted(found.resource, NAME_LENGTH),
        lake=lakes.get(found.resource, ""),
        # Hive knows small letters only, whatever was written when the table was declared.
        hive_db=fitted(found.hive_db.lower(), _HIVE_DB_LENGTH),
        hive_table=fitted(found.hive_table.lower(), NAME_LENGTH),
        columns=[list(column) for column in found.columns],
    )
    return [row]
