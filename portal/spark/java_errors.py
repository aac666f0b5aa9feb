"""The errors that Java code raises in a job, and their causes."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

JAVA_ERRORS = (Py4JJavaError, CapturedException)

_MOST_CAUSES = 20


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
