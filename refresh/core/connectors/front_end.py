"""Client of one front end. It reads, and sends the one statement that acts.

Whatever goes wrong with a statement comes out as one `Answer`: the front end's error, or one of the
client's own codes when there was no sensible answer. After the latter the connection is closed and
of no use.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Self

import pymysql
from pymysql.cursors import DictCursor

from portal.lake.errors import ExternalFailure
from refresh.clusters.domain.external_tables import (
    ResourceTable,
    read_catalog,
    read_properties,
    read_resource_table,
    read_resources,
)
from refresh.clusters.domain.frontends import Contact, FrontEnd, read_frontends
from refresh.clusters.domain.grants import Grant
from refresh.core.domain import statements
from refresh.core.domain.answers import Answer, ErrorKind, RecoveryAction, read_answer
from refresh.core.domain.names import ExternalTable
from refresh.core.domain.versions import Dialect
from refresh.verify.domain.probing import Costs, Picture, read_costs, read_ddl

_RETRIED = (RecoveryAction.RETRY, RecoveryAction.ASK_METASTORE)
# What a front end needs beyond the bound of its session: the call's own time-out, five tries of the
# metastore, which that bound does not reach, and a margin.
_BEYOND = 10 + 60 + 5
_CONNECT_SECONDS = 5.0
_SILENT = 2013
_OUT_OF_ORDER = 2014
_BAD_LOGIN = 1045
_TELLING = ("mysql_clear_password", "dialog", "sha256_password", "caching_sha2_password")
_CONTACTS = {ErrorKind.FE_REFUSED: Contact.REFUSED, ErrorKind.FE_SILENT: Contact.TIMED_OUT}


@dataclass(frozen=True, slots=True)
class Login:
    """As whom the portal speaks to a cluster."""

    user: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Budget:
    """Seconds that a statement may take: what the front end is told, and how long we listen."""

    query_timeout: int = 30
    connect: float = _CONNECT_SECONDS
    beyond: float = _BEYOND

    @property
    def read(self) -> float:
        """The longest silence; a front end that is well always speaks before."""
        return self.query_timeout + self.beyond


class NoAnswerError(Exception):
    """A statement failed; `answer` says what is known. It never leaves this module."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.short)
        self.answer = answer


def contact_of(answer: Answer | None) -> Contact:
    """Say what an attempt shows of the process: any answer of its own is one."""
    return Contact.ANSWERED if answer is None else _CONTACTS.get(answer.meaning, Contact.ANSWERED)


class _NeverTold:
    """Refuses a way of logging in that gives the password away to whatever asks for it."""

    def __init__(self, connection: Any) -> None:
        """Take what the driver gives."""

    def authenticate(self, _packet: Any) -> Any:
        raise pymysql.OperationalError(
            _BAD_LOGIN,
            "It asks for the password itself, over a connection that is not encrypted. Give the "
            "portal a user with mysql_native_password.",
        )


class Session:
    """An open connection to one front end; not for several threads."""

    def __init__(self, connection: Any, *, dialect: Dialect) -> None:
        self._connection = connection
        self.dialect = dialect

    @classmethod
    def connect(
        cls, host: str, port: int, *, login: Login, budget: Budget, dialect: Dialect
    ) -> Self:
        """Connect to one front end by its own address, never through a balancer.

        Raises:
            NoAnswerError: refused, silent, the login is not good, or no front end listens there.
        """
        with _read_errors(dialect):
            connection: Any = pymysql.connect(
                host=host,
                port=port,
                user=login.user,
                password=login.password,
                charset="utf8mb4",
                autocommit=True,
                cursorclass=DictCursor,
                # Front ends have no TLS by default, and to try it costs 50 ms a connection.
                ssl_disabled=True,
                auth_plugin_map=dict.fromkeys(_TELLING, _NeverTold),
                connect_timeout=budget.connect,
                read_timeout=budget.connect,
                write_timeout=budget.connect,
            )
            # A frozen one is found out at once, while a statement may take its whole time; the
            # driver has one time-out for both and no other way to change it.
            connection._read_timeout = budget.read
            connection._write_timeout = budget.read
        session = cls(connection, dialect=dialect)
        try:
            session.run(statements.set_query_timeout(budget.query_timeout))
        except NoAnswerError:
            session.close()
            raise
        return session

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; twice is no error."""
        with _ignored():
            self._connection.close()

    def run(self, sql: str) -> list[dict[str, Any]]:
        """Run one statement and give its rows; NoAnswerError says what went wrong."""
        try:
            with _read_errors(self.dialect), self._connection.cursor() as cursor:
                cursor.execute(sql)
                return list(cursor.fetchall())
        except NoAnswerError as error:
            if contact_of(error.answer) is not Contact.ANSWERED:
                self.close()
            raise


@contextmanager
def _read_errors(dialect: Dialect) -> Iterator[None]:
    try:
        yield
    except pymysql.MySQLError as error:
        code, text = _code_and_text(error)
        raise NoAnswerError(read_answer(code, text, dialect=dialect)) from error
    except OSError as error:
        raise NoAnswerError(read_answer(_SILENT, str(error), dialect=dialect)) from error
    except Exception as error:  # the driver lets anything out on bytes that are no packets
        text = f"What listens there does not speak as a front end does ({error})."
        raise NoAnswerError(read_answer(_OUT_OF_ORDER, text, dialect=dialect)) from error


def _code_and_text(error: pymysql.MySQLError) -> tuple[int, str]:
    """Read PyMySQL's arguments; it gives no code, or 0, when it could not follow the packets."""
    code = error.args[0] if error.args else 0
    text = str(error.args[1]) if len(error.args) > 1 else str(error)
    return (code, text) if isinstance(code, int) and code else (_OUT_OF_ORDER, text)


@contextmanager
def _ignored() -> Iterator[None]:
    try:
        yield
    except Exception:  # a connection that cannot be closed properly is of no use either way
        return


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
