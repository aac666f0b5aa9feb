"""What keeps a metric from being measured, with the code that is stored for it."""

from pyspark.errors import AnalysisException

from portal.spark.java_errors import row_free_text
from quality.checks.domain.reasons import Reason

_MISSING_COLUMN = ("UNRESOLVED_COLUMN", "FIELD_NOT_FOUND")
_WRONG_TYPE = "DATATYPE_MISMATCH"


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
    text = row_free_text(error)
    if isinstance(error, AnalysisException):
        condition = str(error.getErrorClass() or "")
        if condition.startswith(_MISSING_COLUMN):
            return Unmeasured(Reason.COLUMN_GONE, text)
        if condition.startswith(_WRONG_TYPE):
            return Unmeasured(Reason.WRONG_TYPE, text)
    if "DIVIDE_BY_ZERO" in str(error):
        return Unmeasured(Reason.DIVISION_BY_ZERO, text)
    return Unmeasured(Reason.FAILED, text)
