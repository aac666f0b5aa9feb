"""The SQL by which a scan reads the metastore's own database, for MariaDB/MySQL and for Derby.

Derby wants upper-case names in double quotes, MySQL in back quotes; some Derby text columns are
CLOBs that must be read as VARCHAR. Nothing here connects: Spark's JDBC reader does, in slices.
The tables are read only; HMS caches them and owns their ids.
"""

from dataclasses import dataclass

from portal.connectors.lake_config import MetastoreDb

CATALOG = "hive"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes what standard SQL leaves open."""

    quote: str
    clob_as_text: str

    def name(self, identifier: str) -> str:
        """Quote a name of the metastore's schema."""
        return f"{self.quote}{identifier}{self.quote}"

    def column(self, alias: str, identifier: str) -> str:
        """Give `alias.column AS column`, lower-case on the way out."""
        return f"{alias}.{self.name(identifier)} AS {self.name(identifier.lower())}"

    def text(self, alias: str, identifier: str) -> str:
        """Give a column that is a CLOB on Derby as plain text."""
        value = self.clob_as_text.format(f"{alias}.{self.name(identifier)}")
        return f"{value} AS {self.name(identifier.lower())}"

    def template(self, sql: str) -> str:
        """Write `[NAME]` in `sql` as a quoted name."""
        return sql.replace("[", self.quote).replace("]", self.quote)


DIALECTS = {
    "mysql": Dialect(quote="`", clob_as_text="{}"),
    "derby": Dialect(quote='"', clob_as_text="CAST({} AS VARCHAR(4000))"),
}


def dialect_of(database: MetastoreDb) -> Dialect:
    """Give the dialect of a metastore's database."""
    return DIALECTS[database.kind]


def jdbc_options(database: MetastoreDb, *, password: str) -> dict[str, str]:
    """Give the options by which Spark connects; connect and read time-outs are always set."""
    url = database.jdbc_url
    if database.kind == "mysql":
        joint = "&" if "?" in url else "?"
        # One cursor a slice: a plain read would hold a slice's whole result in the JVM.
        url += f"{joint}connectTimeout=15000&socketTimeout=120000&useCompression=false"
    return {
        "url": url,
        "driver": database.driver,
        "user": database.user,
        "password": password,
        "fetchsize": "10000",
        "queryTimeout": "0" if database.kind == "derby" else "600",
        "isolationLevel": "READ_COMMITTED",
    }
