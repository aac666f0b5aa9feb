"""The errors that Java code raises in a job, and their causes."""

import re
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

JAVA_ERRORS = (Py4JJavaError, CapturedException)

_MOST_CAUSES = 20
_LONGEST = 300
_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]*(?:\.[A-Z0-9_]+)*)\]")
_SQL = "org.apache.spark.sql."
_OF_ANALYSIS = ("AnalysisException", "ParseException")
_OF_NO_ROW = frozenset(
    {
        *("AccessControlException", "BlockMissingException", "ConnectException", "EOFException"),
        *("FileAlreadyExistsException", "FileNotFoundException", "HoodieIOException"),
        *("IOException", "MetaException", "NoRouteToHostException", "OutOfMemoryError"),
        *("RemoteException", "SafeModeException", "SocketTimeoutException", "StackOverflowError"),
        *("SparkOutOfMemoryError", "StandbyException", "TTransportException"),
        *("UnknownHostException",),
    }
)


def causes_of(error: Exception) -> list[tuple[str, str]]:
    """Return class name and message of a Java error and of its causes, outermost first."""
    java = _java_of(error)
    found: list[tuple[str, str]] = []
    while java is not None and len(found) < _MOST_CAUSES:
        found.append(_told(java))
        java = java.getCause()
    return found


def root_cause(error: Exception) -> tuple[str, str] | None:
    """Return class name and message of the innermost cause; None: no Java error is behind it.

    The outer ones name tasks and stages only.
    """
    java = _java_of(error)
    if java is None:
        return None
    while java.getCause() is not None:
        java = java.getCause()
    return _told(java)


def _java_of(error: Exception) -> Any:
    return getattr(error, "java_exception", None) or getattr(error, "_origin", None)


def _told(java: Any) -> tuple[str, str]:
    return str(java.getClass().getName()), str(java.getMessage() or "")


def row_free_text(error: Exception) -> str:
    """Return what the innermost cause says, without what may be a value of some row.

    It is kept and shown to people who may not see rows. The driver's log has all of it.
    """
    return without_values(*(root_cause(error) or (type(error).__name__, "")))


def without_values(name: str, message: str) -> str:
    """Return the class of a Java error with as much of its message as can hold no value of a row.

    What analysis and storage say is about columns and files; Spark names other conditions in
    brackets. All else may quote a row, as `For input string: "..."` does.
    """
    short = name.rpartition(".")[2] or name
    line = message.strip().partition("\n")[0][:_LONGEST]
    is_analysis = name.startswith(_SQL) and short.endswith(_OF_ANALYSIS)
    if line and (short in _OF_NO_ROW or is_analysis):
        return f"{short}: {line}"
    condition = _CONDITION.match(message.strip())
    return f"{short} ({condition[1]})" if condition else short
