"""Answers of a front end to one client's statements."""

import time
from collections.abc import Callable

from stack.starrocks import ddl, fan_out, grammar, listing, texts
from stack.starrocks.catalog_cache import CatalogCache
from stack.starrocks.cluster import Cluster
from stack.starrocks.front_end import FrontEnd, Target
from stack.starrocks.grammar import (
    Ask,
    ExplainCosts,
    Name,
    Query,
    Refresh,
    Set,
    SetConfig,
    Show,
    Use,
)
from stack.starrocks.listing import Result
from stack.starrocks.scan import Scan
from stack.starrocks.spec import Privilege, ResourceTable
from stack.starrocks.texts import SqlError

INTERNAL = "default_catalog"
_SYSTEM = "OPERATE/NODE"
_NO_QUERIES = "The simulator runs no queries."


class Session:
    """One client on one front end: its user, catalog, database and variables."""

    def __init__(self, cluster: Cluster, fe: FrontEnd, *, user: str, number: int) -> None:
        self.cluster = cluster
        self.fe = fe
        self.user = user
        self.number = number
        self.catalog = INTERNAL
        self.db = ""
        self.variables = {"query_timeout": "300", "autocommit": "1", "version": "8.0.33"}

    def run(self, sql: str) -> Result | None:
        """Run a statement; None means OK without rows. SqlError goes to the client."""
        statement = grammar.read(sql, is_old=self._is_old)
        match statement:
            case Refresh():
                self._refresh(statement)
            case ExplainCosts():
                return listing.one_column("Explain String", ddl.costs(self._scan(statement)))
            case Query():
                self._query(statement)
            case Show():
                return self._show(statement)
            case Ask():
                return self._ask(statement.what)
            case Set():
                self._set(statement)
            case SetConfig():
                self._need(Privilege.OPERATE)
                self.fe.config[statement.key] = statement.value
            case Use():
                self.use(".".join(statement.name.parts))
        return None

    def use(self, name: str) -> None:
        """Choose a database, and with a dot a catalog before it."""
        catalog, dot, db = name.rpartition(".")
        if dot:
            self._set(Set("catalog", catalog))
        if self._is_old and db not in self.cluster.resource_databases():
            raise texts.old_unknown_db(db)
        self.db = db

    # -- names -----------------------------------------------------------------------------

    @property
    def _is_old(self) -> bool:
        return self.cluster.spec.is_old

    def _full(self, name: Name) -> tuple[str, str, str]:
        catalog, db, table = ("", "", *name.parts)[-3:]
        if not db and not self.db:
            raise texts.no_db()
        return catalog or self.catalog, db or self.db, table

    def _cache(self, catalog: str) -> CatalogCache:
        cache = self.fe.catalogs.get(catalog)
        if cache is None:
            raise texts.unknown_catalog(catalog)
        return cache

    def _cache_of(self, catalog: str, db: str, *, is_refresh: bool = False) -> CatalogCache:
        if catalog == INTERNAL:
            raise texts.unknown_db(db)  # the simulator keeps no tables of its own
        cache = self._cache(catalog)
        if not cache.has_database(db):
            raise texts.unknown_db_in_refresh(db) if is_refresh else texts.unknown_db(db)
        return cache

    def _resource_table(self, name: Name) -> ResourceTable:
        _, db, table = self._full(name)
        if db not in self.cluster.resource_databases():
            raise texts.old_unknown_db(db)
        found = self.cluster.resource_table(db, table)
        if found is None:
            raise texts.old_unknown_table(table)
        return found

    def _need(self, privilege: Privilege, *, table: str = "", command: str = "") -> None:
        user = self.cluster.users.get(self.user)
        if user is not None and privilege in user.privileges:
            return
        if not self._is_old:
            kind = ("TABLE", table) if table else ("SYSTEM", "")
            raise texts.no_privilege(privilege if table else _SYSTEM, *kind)
        if table:
            raise texts.OldTexts(self.user, self.fe.host).denied(command, table)
        raise SqlError(
            1227,
            "Access denied; you need (at least one of) the OPERATOR privilege(s) for this"
            " operation",
        )

    def _sees_objects(self) -> bool:
        """Return whether lists hold any object: those without a right are hidden (3.x)."""
        user = self.cluster.users.get(self.user)
        return user is not None and bool(user.privileges & {Privilege.SELECT, Privilege.ALTER})

    # -- refresh and plan ------------------------------------------------------------------

    def _refresh(self, statement: Refresh) -> None:
        if self._is_old:
            found = self._resource_table(statement.table)
            self._need(Privilege.ALTER, table=found.name, command="REFRESH TABLE")
            target = Target(
                found.resource,
                found.hive_db,
                found.hive_table,
                f"{found.db}.{found.name}",
                statement.partitions,
            )
        else:
            catalog, db, table = self._full(statement.table)
            self._cache_of(catalog, db, is_refresh=True)
            self._need(Privilege.ALTER, table=table)
            target = Target(catalog, db, table, f"{catalog}.{db}.{table}", statement.partitions)
        fan_out.refresh(
            target,
            coordinator=self.fe,
            registered=self.cluster.front_ends,
            query_timeout=float(self.variables["query_timeout"]),
        )

    def _scan(self, statement: ExplainCosts | Query) -> Scan:
        if self._is_old:
            found = self._resource_table(statement.table)
            self._need(Privilege.SELECT, table=found.name, command="SELECT")
            cache = self.fe.resources[found.resource]
            return cache.scan(found.hive_db, found.hive_table, statement.where)
        of_catalog, db, table = self._readable(statement.table)
        began = time.monotonic()
        scan = of_catalog.scan(db, table, statement.where)
        took = time.monotonic() - began
        if took > self.cluster.spec.timings.planner_timeout:
            raise texts.planner_slow(took)
        return scan

    def _query(self, statement: Query) -> None:
        """Load what the query would read; there is nobody to run it."""
        if self._is_old:
            self._scan(statement)
        else:
            of_catalog, db, table = self._readable(statement.table)
            of_catalog.query(db, table, statement.where)
        raise SqlError(1064, _NO_QUERIES)

    def _readable(self, name: Name) -> tuple[CatalogCache, str, str]:
        catalog, db, table = self._full(name)
        of_catalog = self._cache_of(catalog, db)
        self._need(Privilege.SELECT, table=table)
        return of_catalog, db, table

    # -- show ------------------------------------------------------------------------------

    def _show(self, statement: Show) -> Result:
        shows: dict[str, Callable[[Show], Result]] = {
            "FRONTENDS": self._show_front_ends,
            "PROC": self._show_front_ends,
            "CATALOGS": lambda _: listing.catalogs(self.cluster, is_seen=self._sees_objects()),
            "GRANTS": lambda _: listing.grants(self.cluster, self.user),
            "RESOURCES": lambda _: listing.resources(self.cluster),
            "FRONTEND CONFIG": self._show_config,
            "DATABASES": self._show_databases,
            "TABLES": self._show_tables,
            "CREATE TABLE": self._show_create_table,
            "CREATE CATALOG": self._show_create_catalog,
            "VARIABLES": self._show_variables,
            "PROCESSLIST": lambda _: self._show_processes(),
        }
        return shows[statement.what](statement)

    def _show_front_ends(self, statement: Show) -> Result:
        if statement.name is not None and statement.name.parts != ("/frontends",):
            raise SqlError(1064, f"Proc path '{statement.name.parts[0]}' doesn't exist")
        self._need(Privilege.OPERATE)
        self.cluster.wait_for_listing()
        if self.cluster.leader() is None:
            raise texts.no_leader()
        return listing.front_ends(self.cluster)

    def _show_config(self, statement: Show) -> Result:
        self._need(Privilege.OPERATE)
        return listing.config(self.fe, statement.like)

    def _show_databases(self, statement: Show) -> Result:
        catalog = statement.name.parts[-1] if statement.name else self.catalog
        if self._is_old or catalog == INTERNAL:
            names = list(self.cluster.resource_databases())
        else:
            names = self._cache(catalog).databases() if self._sees_objects() else []
        return listing.one_column("Database", [n for n in names if listing.like(n, statement.like)])

    def _show_tables(self, statement: Show) -> Result:
        parts = statement.name.parts if statement.name else (self.db,)
        catalog, db = ("", *parts)[-2:]
        if not db:
            raise texts.no_db()
        if self._is_old:
            found = self.cluster.resource_databases().get(db)
            if found is None:
                raise texts.old_unknown_db(db)
            names = found
        else:
            of_catalog = self._cache_of(catalog or self.catalog, db)
            names = of_catalog.tables(db) if self._sees_objects() else []
        return listing.one_column(
            f"Tables_in_{db}", [n for n in names if listing.like(n, statement.like)]
        )

    def _show_create_table(self, statement: Show) -> Result:
        name = statement.name or Name(())
        if self._is_old:
            found = self._resource_table(name)
            uris = self.cluster.spec.resources[found.resource]
            return Result(
                ("Table", "Create Table"), [(found.name, ddl.resource_table(found, uris))]
            )
        catalog, db, table = self._full(name)
        kept = self._cache_of(catalog, db).table(db, table)
        return Result(("Table", "Create Table"), [(table, ddl.catalog_table(kept))])

    def _show_create_catalog(self, statement: Show) -> Result:
        name = statement.name.parts[0] if statement.name else ""
        uris = self.cluster.spec.catalogs.get(name)
        if uris is None:
            raise texts.unknown_catalog(name)
        return Result(("Catalog", "Create Catalog"), [(name, ddl.catalog(name, uris))])

    def _show_variables(self, statement: Show) -> Result:
        rows = [row for row in self.variables.items() if listing.like(row[0], statement.like)]
        return Result(("Variable_name", "Value"), rows)

    def _show_processes(self) -> Result:
        columns = ("Id", "User", "Host", "Db", "Command", "State", "Info")
        row = (str(self.number), self.user, self.fe.host, self.db, "Query", "OK", None)
        return Result(columns, [row])

    # -- the rest --------------------------------------------------------------------------

    def _set(self, statement: Set) -> None:
        if statement.name == "catalog":
            if statement.value != INTERNAL:
                self._cache(statement.value)
            self.catalog, self.db = statement.value, ""
            return
        if statement.name == "query_timeout" and not statement.value.isdigit():
            raise SqlError(1232, "Incorrect argument type to variable 'query_timeout'")
        self.variables[statement.name] = statement.value

    def _ask(self, what: str) -> Result:
        answers = {
            "1": "1",
            "@@version_comment": "StarRocks version " + self.cluster.spec.version,
            "@@query_timeout": self.variables["query_timeout"],
            "connection_id()": str(self.number),
            "current_version()": self.cluster.spec.version,
            "version()": self.variables["version"],
            "database()": self.db,
        }
        if what not in answers:
            raise SqlError(1064, _NO_QUERIES)
        return Result((what,), [(answers[what],)])
