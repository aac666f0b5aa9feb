"""Client of one front end. It reads, and sends the one statement that acts."""

from collections.abc import Sequence
from typing import Any, Self

from portal.lake.errors import ExternalFailure
from refresh.clusters.domain.external_tables import (
    ResourceTable,
    read_catalog,
    read_properties,
    read_resource_table,
    read_resources,
)
from refresh.clusters.domain.frontends import FrontEnd, read_frontends
from refresh.clusters.domain.grants import Grant
from refresh.core.connectors.session import Budget, Login, NoAnswerError, Session
from refresh.core.domain import statements
from refresh.core.domain.answers import Answer, RecoveryAction
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import Costs, Picture, read_costs, read_ddl

_RETRIED = (RecoveryAction.RETRY, RecoveryAction.ASK_METASTORE)


class FrontEndClient:
    """One front end. Reading raises ExternalFailure; a refresh gives its answer, whatever it is."""

    def __init__(self, session: Session, *, place: str) -> None:
        self._session = session
        self._place = place

    @classmethod
    def connect(
        cls, host: str, port: int, *, login: Login, dialect: Dialect, budget: Budget | None = None
    ) -> Self | Answer:
        """Connect to one front end by its own address; an Answer says why that failed.

        Dead, frozen and a refused login are ordinary news of a front end, not errors.
        """
        try:
            session = Session.connect(
                host, port, login=login, budget=budget or Budget(), dialect=dialect
            )
        except NoAnswerError as error:
            return error.answer
        return cls(session, place=f"{host}:{port}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; twice is no error."""
        self._session.close()

    # -- acting ----------------------------------------------------------------------------

    def refresh(self, table: ExternalTable, partitions: Sequence[str] = ()) -> Answer | None:
        """Refresh a table, or some of its partitions, here and on all others; None = all well.

        It comes back when all were waited for. After a silence nothing is known: the front end may
        still be at work.
        """
        sql = statements.refresh(table, dialect=self._session.dialect, partitions=partitions)
        try:
            self._session.run(sql)
        except NoAnswerError as error:
            return error.answer
        return None

    # -- reading ---------------------------------------------------------------------------

    def front_ends(self) -> list[FrontEnd]:
        """Return all registered front ends, as the leader last heard of them."""
        return read_frontends(self._read(statements.SHOW_FRONTENDS))

    def catalogs(self) -> dict[str, str]:
        """Return the metastore addresses of each Hive catalog."""
        found = {name: read_catalog(ddl) for name, ddl in self._catalog_ddls().items()}
        return {name: uris for name, uris in found.items() if uris is not None}

    def catalog_properties(self) -> dict[str, dict[str, str]]:
        """Return the properties of each Hive catalog that were set; the rest has its defaults."""
        return {name: read_properties(ddl) for name, ddl in self._catalog_ddls().items()}

    def databases(self) -> list[str]:
        """Return the names of the databases outside catalogs."""
        return [str(next(iter(row.values()))) for row in self._read(statements.SHOW_DATABASES)]

    def resources(self) -> dict[str, str]:
        """Return the metastore addresses of each Hive resource."""
        return read_resources(self._read(statements.SHOW_RESOURCES))

    def tables(self, db: str, *, catalog: str = "") -> list[str]:
        """Return the names of a database's tables."""
        rows = self._read(statements.show_tables(db, catalog=catalog))
        return [str(next(iter(row.values()))) for row in rows]

    def resource_table(self, table: ExternalTable) -> ResourceTable | None:
        """Return what a table on a resource stands for; None if it is anything else."""
        return read_resource_table(self._ddl(statements.show_create_table(table)))

    def plan(self, table: ExternalTable, where: Sequence[tuple[str, str]] = ()) -> Costs:
        """Return how many partitions and rows it believes in; loads names, and no files."""
        rows = self._read(statements.explain_costs(table, where))
        return read_costs("\n".join(str(next(iter(row.values()))) for row in rows))

    def kept_table(self, table: ExternalTable) -> Picture:
        """Return the location and DDL time that it keeps of a table in a catalog."""
        return read_ddl(self._ddl(statements.show_create_table(table)))

    def config(self, pattern: str) -> dict[str, str]:
        """Return its own settings that fit a pattern of LIKE."""
        rows = self._read(statements.frontend_config(pattern))
        return {str(row["Key"]): str(row["Value"]) for row in rows}

    def grants(self, *, role: str = "") -> list[Grant]:
        """Return what our own user may do, or a role of it (3.x)."""
        sql = statements.show_role_grants(role) if role else statements.SHOW_GRANTS
        return [
            Grant(str(row.get("Catalog") or ""), str(row.get("Grants") or ""))
            for row in self._read(sql)
        ]

    # -- inside ----------------------------------------------------------------------------

    def _catalog_ddls(self) -> dict[str, str]:
        names = [
            str(row["Catalog"])
            for row in self._read(statements.SHOW_CATALOGS)
            if str(row.get("Type", "")).lower() == "hive"
        ]
        return {name: self._ddl(statements.show_create_catalog(name)) for name in names}

    def _ddl(self, sql: str) -> str:
        rows = self._read(sql)
        return str(list(rows[0].values())[1]) if rows and len(rows[0]) > 1 else ""

    def _read(self, sql: str) -> list[dict[str, Any]]:
        try:
            return self._session.run(sql)
        except NoAnswerError as error:
            raise failure(error.answer, place=self._place) from error


def failure(answer: Answer, *, place: str) -> ExternalFailure:
    """Make an answer the error that pages and the API show; the whole text goes to the log."""
    return ExternalFailure(
        f"starrocks.{answer.meaning.lower()}",
        f"The front end {place} said: {answer.short or 'nothing'} (error {answer.code})",
        service="starrocks",
        retryable=answer.remedy in _RETRIED,
        place=place,
    )
