"""What goes wrong at Hudi tables, told by what Java throws, in one place.

What is not known here becomes `hudi.failed` with Java's own first line.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from portal.lake.errors import ExternalFailure, PortalError, RuleViolation, StaleState
from portal.spark.java_errors import JAVA_ERRORS, causes_of

GONE = "hudi.gone"
NOT_HUDI = "hudi.not_hudi"
OLD_VERSION = "hudi.old_version"
NEW_VERSION = "hudi.new_version"
BROKEN = "hudi.broken"
CONFLICT = "hudi.conflict"
LOCKED = "hudi.locked"
FILE_MISSING = "hudi.file_missing"
FAILED = "hudi.failed"
AT_WORK = "hudi.at_work"
LOST_TO_OTHERS = frozenset({GONE, NOT_HUDI, CONFLICT, LOCKED})
"""Codes after which a task is given up rather than failed: somebody else decided."""

_GONE_CLASSES = ("TableNotFoundException",)
_LOCK_CLASSES = ("HoodieLockException",)
_CONFLICT_CLASSES = (
    "HoodieWriteConflictException",
    "HoodieClusteringUpdateException",
    "HoodieDeletePartitionPendingTableServiceException",
)
_MISSING_CLASSES = ("FileNotFoundException", "NoSuchFileException", "BlockMissingException")
_NEWER = ("Unsupported table version code", "Unknown table version")
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
    for judge in (_newer, _gone, _others, _files):
        found = judge(causes, table)
        if found is not None:
            return found
    return ExternalFailure(
        FAILED,
        f"{table}: {error_text(error)} The run's log has the details.",
        service="spark",
        retryable=True,
        table=table,
    )


def error_text(error: Exception) -> str:
    """Return the innermost class of a Java error and the first line of what it says."""
    causes = causes_of(error)
    kind, text = causes[-1] if causes else (type(error).__name__, str(error))
    line = text.strip().partition("\n")[0]
    line = line if len(line) <= _TEXT else line[:_TEXT] + "..."
    return f"{kind.rpartition('.')[2]}: {line}".removesuffix(": ").removesuffix(".") + "."


def gone(table: str, location: str) -> StaleState:
    """Return the error of a table whose folder is not there any more."""
    return StaleState(
        GONE,
        f"{table}: {location} does not exist (any more); nothing was done. Drop the table from "
        "the metastore, or bring its folder back.",
        table=table,
    )


def not_hudi(table: str, location: str) -> RuleViolation:
    """Return the error of a folder in which no Hudi table lies."""
    return RuleViolation(
        NOT_HUDI,
        f"{table}: there is no .hoodie folder with hoodie.properties in {location}, so it is no "
        "Hudi table (any more); it is left alone.",
        table=table,
    )


def old_version(table: str, version: int, layout: int) -> RuleViolation:
    """Return the error of a table whose timeline is of Hudi 0.x."""
    return RuleViolation(
        OLD_VERSION,
        f"{table}: its table version is {version} and its timeline has the layout {layout} of Hudi "
        "0.x; only tables of Hudi 1.0 and later are worked on. Let its writer upgrade it "
        "(hoodie.write.auto.upgrade), and look again.",
        table=table,
    )


def at_work(table: str, words: str) -> StaleState:
    """Return the error of an instant at which somebody may be working."""
    return StaleState(
        AT_WORK,
        f"{table}: {words} Somebody may be working at it, so it is left alone; it is tried again "
        "later.",
        table=table,
    )


def broken(table: str, what: str) -> ExternalFailure:
    """Return the error of a table whose own metadata cannot be read."""
    return ExternalFailure(
        BROKEN,
        f"{table}: {what} Nothing is done to the table until a person has repaired its .hoodie "
        "folder.",
        service="storage",
        retryable=False,
        table=table,
    )


def _newer(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    newer = next((text for _, text in causes if any(word in text for word in _NEWER)), None)
    if newer is None:
        return None
    return RuleViolation(
        NEW_VERSION,
        f"{table}: it was written by a later Hudi than the one of this Spark. Put a Hudi bundle "
        f"of that release into `spark_jars` of the lake. {_short(newer)}",
        table=table,
    )


def _gone(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    text = _text_of(causes, *_GONE_CLASSES)
    return None if text is None else gone(table, "its folder")


def _others(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    text = _text_of(causes, *_LOCK_CLASSES)
    if text is not None:
        return StaleState(
            LOCKED,
            f"{table}: its lock is held by somebody else; nothing was done. It is tried again "
            f"later. {_short(text)}",
            table=table,
        )
    text = _text_of(causes, *_CONFLICT_CLASSES)
    if text is not None:
        return StaleState(
            CONFLICT,
            f"{table}: another writer was first; nothing of this was done. {_short(text)}",
            table=table,
        )
    return None


def _files(causes: list[tuple[str, str]], table: str) -> PortalError | None:
    text = _text_of(causes, *_MISSING_CLASSES)
    if text is None:
        return None
    return ExternalFailure(
        FILE_MISSING,
        f"{table}: a file that the table names cannot be found. Restore the file, or roll the "
        f"instant back that named it. {_short(text)}",
        service="storage",
        retryable=False,
        table=table,
    )


def _text_of(causes: list[tuple[str, str]], *names: str) -> str | None:
    """Return the message of the first cause whose class has one of the names."""
    return next((text for name, text in causes if name.rpartition(".")[2] in names), None)


def _short(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= _TEXT else line[:_TEXT] + "..."
