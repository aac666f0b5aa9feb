"""What keeps a metric from being measured, with the code that is stored for it."""

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.errors.exceptions.captured import CapturedException

from quality.checks.domain.reasons import Reason

JAVA_ERRORS = (Py4JJavaError, CapturedException)
_MISSING_COLUMN = ("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND")
_WRONG_TYPE = "DATATYPE_MISMATCH"
_TEXT = 300


class Unmeasured(Exception):
    """A metric that has no value, and the reason."""

    def __init__(self, reason: Reason, detail: str = "") -> None:
        super().__init__(detail)
        self.reason = reason
        self.detail = detail


class NotIncremental(Exception):
    """Newer rows alone do not give the table's values; the text says why."""


def unmeasured(error: Exception) -> Unmeasured:
    """Return what an error of Spark means for the metric that it was raised for."""
    if isinstance(error, Unmeasured):
        return error
    text = java_text(error)
    if isinstance(error, AnalysisException):
        condition = str(error.getErrorClass() or "")
        if condition.startswith(_MISSING_COLUMN):
            return Unmeasured(Reason.COLUMN_GONE, text)
        if condition.startswith(_WRONG_TYPE):
            return Unmeasured(Reason.WRONG_TYPE, text)
    if "DIVIDE_BY_ZERO" in str(error):
        return Unmeasured(Reason.DIVISION_BY_ZERO, text)
    return Unmeasured(Reason.FAILED, text)


def java_text(error: Exception) -> str:
    """Return the first line of the innermost cause of a Java error."""
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        return str(error).partition("\n")[0][:_TEXT]
    while java.getCause() is not None:
        java = java.getCause()
    return str(java.getMessage() or java.getClass().getName()).strip().partition("\n")[0][:_TEXT]
