"""Maps errors of Iceberg, Spark or the file system to a task's outcome and what is next.

Java's exceptions are told apart by class names along their causes; who calls gets one PortalError
with a stable code. What is not known here becomes `iceberg.failed` with Java's own first line.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from portal.lake.errors import ExternalFailure, PortalError, RuleViolation, StaleState
from portal.spark.java_errors import JAVA_ERRORS, causes_of

GONE = "iceberg.gone"
REPLACED = "iceberg.replaced"
CONFLICT = "iceberg.conflict"
UNKNOWN = "iceberg.commit_unknown"
FILE_MISSING = "iceberg.file_missing"
FILE_CORRUPT = "iceberg.file_corrupt"
DISK_FULL = "iceberg.disk_full"
NOT_ICEBERG = "iceberg.not_iceberg"
UNREACHABLE = "metastore.unreachable"
LOST_TO_OTHERS = frozenset({GONE, REPLACED, CONFLICT, NOT_ICEBERG})
"""Codes after which a task is given up rather than failed: somebody else decided."""
ENDS_THE_TASK = LOST_TO_OTHERS - {CONFLICT} | {UNKNOWN, DISK_FULL}
"""Codes after which further groups of the same table make no sense."""

# Words of the kernel and of HDFS that no name of a table, partition or file can be taken for.
_FULL_DISK = (
    "No space left on device",
    "Disk quota exceeded",
    "DSQuotaExceededException",
    "NSQuotaExceededException",
    "could only be written to 0 of",
)
_FULL_DISK_CLASSES = ("DSQuotaExceededException", "NSQuotaExceededException")
_MISSING = (
    "FileNotFoundException",
    "NotFoundException",
    "NoSuchFileException",
    "BlockMissingException",
)
_NO_METASTORE = ("TTransportException", "Could not connect to meta store")
_CORRUPT = ("ParquetDecodingException", "ParquetCorruptFileException", "ChecksumException")
_TEXT = 300


@contextmanager
def clear_errors(table: str) -> Iterator[None]:
    """Turn what Java throws in here into PortalErrors that name the table."""
    try:
        yield
    except JAVA_ERRORS as error:
        raise sorted_error(error, table) from error


def sorted_error(error: Exception, table: str) -> PortalError:
    """Sort one Java error by its causes: the most telling one decides."""
    causes = causes_of(error)
    found = sorted_causes(causes, table)
    if found is not None:
        return found
    name, text = causes[0] if causes else (type(error).__name__, str(error))
    return ExternalFailure(
        "iceberg.failed",
        f"{table}: {name.rpartition('.')[2]}: {_short(text)} The run's log has the details.",
        service="spark",
        retryable=True,
        table=table,
    )


def sorted_causes(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    """Return the error that known causes mean, None for others.

    `causes` are the classes and texts of what the JVM threw, outermost first.
    """
    for judge in (_commit, _table, _metastore, _files):
        found = judge(causes, table)
        if found is not None:
            return found
    return None


def conflict(table: str, reason: str) -> StaleState:
    """Return the error of a rewrite that lost against another writer."""
    return StaleState(
        CONFLICT,
        f"{table}: another writer was first; nothing of this commit was done. {_short(reason)}",
        table=table,
    )


def in_doubt(table: str, reason: str = "") -> ExternalFailure:
    """Return the error of a commit of which nobody knows whether it happened."""
    return ExternalFailure(
        UNKNOWN,
        f"{table}: the metastore did not say whether the commit arrived. The new files are left "
        f"where they are; a later task on the table looks again. {_short(reason)}",
        service="metastore",
        retryable=False,
        table=table,
    )


def _commit(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    if (text := _said(causes, "CommitStateUnknownException")) is not None:
        return in_doubt(table, text)
    text = _said(causes, "ValidationException", "CommitFailedException")
    return None if text is None else conflict(table, text)


def _table(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    if _said(causes, "NoSuchIcebergTableException") is not None:
        return RuleViolation(
            NOT_ICEBERG, f"{table} is no Iceberg table (any more); it is left alone.", table=table
        )
    if _said(causes, "NoSuchTableException", "NoSuchNamespaceException") is not None:
        return StaleState(GONE, f"{table} does not exist any more; nothing was done.", table=table)
    if any("Table UUID does not match" in text for _, text in causes):
        return replaced(table)
    return None


def replaced(table: str) -> StaleState:
    """Return the error of a name under which another table now lies."""
    return StaleState(
        REPLACED,
        f"{table}: another table is under this name now (its uuid differs); it is left alone. "
        "It is inspected again as a table of its own.",
        table=table,
    )


def _metastore(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    if not any(sign in f"{name}: {text}" for name, text in causes for sign in _NO_METASTORE):
        return None
    name, text = causes[-1]
    said = _short(f"{name.rpartition('.')[2]}: {text}").removesuffix(": ")
    return ExternalFailure(
        UNREACHABLE,
        f"{table}: the metastore does not answer ({said}). Nothing has to be done to the table; it "
        "is tried again.",
        service="metastore",
        retryable=True,
        table=table,
    )


def _files(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    full = _said(causes, *_FULL_DISK_CLASSES)
    if full is None:
        full = next((t for _, t in causes if any(word in t for word in _FULL_DISK)), None)
    if full is not None:
        return ExternalFailure(
            DISK_FULL,
            f"{table}: there is no room for the new files; they were removed again. Make room or "
            f"raise the quota. {_short(full)}",
            service="storage",
            retryable=True,
            table=table,
        )
    missing = _said(causes, *_MISSING)
    if missing is not None:
        return ExternalFailure(
            FILE_MISSING,
            f"{table}: a file that the table names cannot be found; its rows cannot be rewritten. "
            f"Restore the file, or roll back to a snapshot without it. {_short(missing)}",
            service="storage",
            retryable=False,
            table=table,
        )
    corrupt = _said(causes, *_CORRUPT)
    corrupt = corrupt or next((t for _, t in causes if "is not a Parquet file" in t), None)
    if corrupt is None:
        return None
    return ExternalFailure(
        FILE_CORRUPT,
        f"{table}: a data file cannot be read; its rows cannot be rewritten. Restore the file from "
        f"a backup. {_short(corrupt)}",
        service="storage",
        retryable=False,
        table=table,
    )


def _said(causes: list[tuple[str, str]], *names: str) -> str | None:
    """Return the message of the first cause whose class has one of the names."""
    return next((text for name, text in causes if name.rpartition(".")[2] in names), None)


def _short(text: str) -> str:
    line = text.strip().splitlines()[0] if text.strip() else ""
    return line if len(line) <= _TEXT else line[:_TEXT] + "..."
