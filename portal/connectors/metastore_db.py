"""The SQL by which a scan reads the metastore's own database, for MariaDB/MySQL and for Derby.

Derby wants upper-case names in double quotes, MySQL in back quotes; parameters are CLOBs on Derby.
Nothing here connects: Spark's JDBC reader does, in slices. The tables are only ever read: the
metastore caches them and owns their ids.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.connectors.lake_config import MetastoreDb

DDL_TIME = "transient_lastDdlTime"
# The variable in which a job finds the password of the metastore's database.
PASSWORD_VARIABLE = "LW_METASTORE_DB_PASSWORD"  # noqa: S105  (a name, not a password)
_MARIADB, _MYSQL = "jdbc:mariadb:", "jdbc:mysql:"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How one database writes what standard SQL leaves open."""

    quote: str
    text: str

    def sql(self, template: str) -> str:
        """Write `[NAME]` as a quoted name and `text(...)` as plain text out of a CLOB."""
        quoted = template.replace("[", self.quote).replace("]", self.quote)
        head, *rest = quoted.split("text(")
        parts = [
            self.text.format(*piece.split(")", 1)[:1]) + piece.split(")", 1)[1] for piece in rest
        ]
        return " ".join((head + "".join(parts)).split())


DIALECTS = {
    "mysql": Dialect(quote="`", text="{}"),
    "derby": Dialect(quote='"', text="CAST({} AS VARCHAR(4000))"),
}

DATABASES = """
SELECT d.[DB_ID] AS [db_id], d.[NAME] AS [db], d.[OWNER_NAME] AS [owner],
       d.[DB_LOCATION_URI] AS [location]
FROM [DBS] d WHERE d.[CTLG_NAME] = 'hive'
"""

TABLES = """
SELECT t.[TBL_ID] AS [tbl_id], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], t.[OWNER] AS [owner],
       t.[TBL_TYPE] AS [tbl_type], t.[CREATE_TIME] AS [create_time],
       s.[LOCATION] AS [location], s.[INPUT_FORMAT] AS [input_format],
       e.[SLIB] AS [serde], text(p.[PARAM_VALUE]) AS [path], k.[n_keys] AS [n_keys]
FROM [TBLS] t
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID] AND d.[CTLG_NAME] = 'hive'
LEFT JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]
LEFT JOIN [SERDES] e ON e.[SERDE_ID] = s.[SERDE_ID]
LEFT JOIN [SERDE_PARAMS] p ON p.[SERDE_ID] = s.[SERDE_ID] AND p.[PARAM_KEY] = 'path'
LEFT JOIN (SELECT [TBL_ID] AS [id], COUNT(*) AS [n_keys] FROM [PARTITION_KEYS] GROUP BY [TBL_ID]) k
  ON k.[id] = t.[TBL_ID]
"""

# Only what the rules look at: a table's whole schema may stand in other parameters.
TABLE_PARAMETERS = """
SELECT p.[TBL_ID] AS [tbl_id], p.[PARAM_KEY] AS [param], text(p.[PARAM_VALUE]) AS [val]
FROM [TABLE_PARAMS] p WHERE LOWER(p.[PARAM_KEY]) IN ({names})
"""

PARTITIONS = """
SELECT p.[PART_ID] AS [part_id], p.[TBL_ID] AS [tbl_id], p.[PART_NAME] AS [part_name],
       p.[CREATE_TIME] AS [create_time], s.[LOCATION] AS [location],
       ddl.[PARAM_VALUE] AS [ddl], flag.[PARAM_VALUE] AS [flag]
FROM [PARTITIONS] p
LEFT JOIN [SDS] s ON s.[SD_ID] = p.[SD_ID]
LEFT JOIN [PARTITION_PARAMS] ddl
  ON ddl.[PART_ID] = p.[PART_ID] AND ddl.[PARAM_KEY] = 'transient_lastDdlTime'
LEFT JOIN [PARTITION_PARAMS] flag
  ON flag.[PART_ID] = p.[PART_ID] AND flag.[PARAM_KEY] = 'commit'
"""

PARTITION_COUNTS = """
SELECT p.[TBL_ID] AS [tbl_id], COUNT(*) AS [n],
       MIN(p.[PART_ID]) AS [low], MAX(p.[PART_ID]) AS [high]
FROM [PARTITIONS] p GROUP BY p.[TBL_ID]
"""

PARTITION_NAME_SAMPLE = """
SELECT p.[PART_NAME] AS [part_name] FROM [PARTITIONS] p
WHERE p.[TBL_ID] = {tbl_id} AND MOD(p.[PART_ID], {step}) = 0
"""

# Where anything at all is registered, in every catalog, whatever it is: a storage descriptor's own
# location and the path that Spark reads instead. Only ever compared, so nothing is left out.
DATABASE_PLACES = """
SELECT d.[CTLG_NAME] AS [catalog], d.[NAME] AS [db], d.[DB_LOCATION_URI] AS [location]
FROM [DBS] d
"""

TABLE_PLACES = """
SELECT d.[CTLG_NAME] AS [catalog], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl],
       s.[LOCATION] AS [location], text(f.[PARAM_VALUE]) AS [path]
FROM [TBLS] t
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID]
JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]
LEFT JOIN [SERDE_PARAMS] f ON f.[SERDE_ID] = s.[SERDE_ID] AND f.[PARAM_KEY] = 'path'
"""

PARTITION_PLACES = """
SELECT d.[CTLG_NAME] AS [catalog], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl],
       p.[PART_NAME] AS [part_name], s.[LOCATION] AS [location],
       text(f.[PARAM_VALUE]) AS [path]
FROM [PARTITIONS] p
JOIN [TBLS] t ON t.[TBL_ID] = p.[TBL_ID]
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID]
JOIN [SDS] s ON s.[SD_ID] = p.[SD_ID]
LEFT JOIN [SERDE_PARAMS] f ON f.[SERDE_ID] = s.[SERDE_ID] AND f.[PARAM_KEY] = 'path'
"""

# A schema file that readers of an Avro table open, wherever it lies.
SCHEMA_PLACES = """
SELECT d.[CTLG_NAME] AS [catalog], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl],
       text(a.[PARAM_VALUE]) AS [location], text(f.[PARAM_VALUE]) AS [path]
FROM [TBLS] t
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID]
LEFT JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]
LEFT JOIN [TABLE_PARAMS] a ON a.[TBL_ID] = t.[TBL_ID] AND a.[PARAM_KEY] = 'avro.schema.url'
LEFT JOIN [SERDE_PARAMS] f
  ON f.[SERDE_ID] = s.[SERDE_ID] AND f.[PARAM_KEY] = 'avro.schema.url'
WHERE a.[TBL_ID] IS NOT NULL OR f.[SERDE_ID] IS NOT NULL
"""

# What a metastore left behind: nobody can say that nothing reads there.
LOOSE_PLACES = """
SELECT s.[LOCATION] AS [location], text(f.[PARAM_VALUE]) AS [path]
FROM [SDS] s
LEFT JOIN [SERDE_PARAMS] f ON f.[SERDE_ID] = s.[SERDE_ID] AND f.[PARAM_KEY] = 'path'
LEFT JOIN [TBLS] t ON t.[SD_ID] = s.[SD_ID]
LEFT JOIN [PARTITIONS] p ON p.[SD_ID] = s.[SD_ID]
WHERE t.[TBL_ID] IS NULL AND p.[PART_ID] IS NULL
"""

HUDI_TABLES = """
SELECT t.[TBL_ID] AS [tbl_id], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], t.[OWNER] AS [owner],
       s.[LOCATION] AS [location], s.[INPUT_FORMAT] AS [input_format],
       text(f.[PARAM_VALUE]) AS [path], text(p.[PARAM_VALUE]) AS [provider]
FROM [TBLS] t
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID] AND d.[CTLG_NAME] = 'hive'
JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]
LEFT JOIN [TABLE_PARAMS] p
  ON p.[TBL_ID] = t.[TBL_ID] AND p.[PARAM_KEY] = 'spark.sql.sources.provider'
LEFT JOIN [SERDE_PARAMS] f ON f.[SERDE_ID] = s.[SERDE_ID] AND f.[PARAM_KEY] = 'path'
WHERE LOWER(text(p.[PARAM_VALUE])) = 'hudi'
   OR s.[INPUT_FORMAT] LIKE 'org.apache.hudi.%' OR s.[INPUT_FORMAT] LIKE 'com.uber.hoodie.%'
"""

# What names a table's current metadata is there once a table; other formats have other parameters.
_ICEBERG = """
FROM [TABLE_PARAMS] m
JOIN [TBLS] t ON t.[TBL_ID] = m.[TBL_ID]
JOIN [DBS] d ON d.[DB_ID] = t.[DB_ID] AND d.[CTLG_NAME] = 'hive'
JOIN [TABLE_PARAMS] k ON k.[TBL_ID] = m.[TBL_ID] AND k.[PARAM_KEY] = 'table_type'
LEFT JOIN [SDS] s ON s.[SD_ID] = t.[SD_ID]
{joins}
WHERE m.[PARAM_KEY] = 'metadata_location' AND LOWER(text(k.[PARAM_VALUE])) = 'iceberg'
"""


def iceberg_tables(parameters: Sequence[str]) -> str:
    """Return the read of all Iceberg tables, one row each, with these of their parameters beside.

    Each parameter is a column of its name with `_` for what no column may hold. A text of more
    than 4,000 characters comes cut on Derby.
    """
    columns = "".join(
        f", text(p{n}.[PARAM_VALUE]) AS [{parameter_column(name)}]"
        for n, name in enumerate(parameters)
    )
    joins = " ".join(
        f"LEFT JOIN [TABLE_PARAMS] p{n} ON p{n}.[TBL_ID] = m.[TBL_ID] "
        f"AND p{n}.[PARAM_KEY] = '{name}'"
        for n, name in enumerate(parameters)
    )
    return (
        "SELECT t.[TBL_ID] AS [tbl_id], d.[NAME] AS [db], t.[TBL_NAME] AS [tbl], "
        "t.[OWNER] AS [owner], s.[LOCATION] AS [location], "
        f"text(m.[PARAM_VALUE]) AS [metadata_location]{columns}{_ICEBERG.format(joins=joins)}"
    )


def parameter_column(name: str) -> str:
    """Return the column in which a parameter is read."""
    return name.replace("-", "_").replace(".", "_").lower()


def dialect_of(database: MetastoreDb) -> Dialect:
    """Return the dialect of a metastore's database."""
    return DIALECTS[database.kind]


def jdbc_options(database: MetastoreDb, *, password: str) -> dict[str, str]:
    """Return the options by which Spark connects; a silent server is noticed on either database."""
    url = database.jdbc_url
    if database.kind == "mysql":
        url = _with_mysql_scheme(url)
        joint = "&" if "?" in url else "?"
        silence_ms = int(database.timeout_seconds * 1000)
        url += f"{joint}connectTimeout=15000&socketTimeout={silence_ms}"
    return {
        "url": url,
        "driver": database.driver,
        "user": database.user,
        "password": password,
        "fetchsize": "10000",
    }


def _with_mysql_scheme(url: str) -> str:
    """Return an address of MariaDB's own scheme as one of MySQL.

    Spark chooses by the scheme how names are quoted, and knows no MariaDB: with its own scheme,
    every column's name would be read as a text.
    """
    if not url.startswith(_MARIADB):
        return url
    url = _MYSQL + url.removeprefix(_MARIADB)
    return f"{url}{'&' if '?' in url else '?'}permitMysqlScheme&useMysqlMetadata=true"
