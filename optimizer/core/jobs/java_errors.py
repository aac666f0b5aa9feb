"""The errors that Java code raises in a job, and their causes."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException

JAVA_ERRORS = (Py4JJavaError, CapturedException)

_MOST_CAUSES = 20


def causes_of(error: Exception) -> list[tuple[str, str]]:
    """Return class name and message of a Java error and of its causes, outermost first."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    found: list[tuple[str, str]] = []
    while java is not None and len(found) < _MOST_CAUSES:
        found.append((str(java.getClass().getName()), str(java.getMessage() or "")))
        java = java.getCause()
    return found
