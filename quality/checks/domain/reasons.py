"""Why a metric has no value, or a rule no answer."""

from enum import StrEnum


class Reason(StrEnum):
    """Codes that are stored; `WORDS` has what people read."""

    NO_HISTORY = "no_history"
    WINDOW_MISSING = "window_missing"
    NOT_DATED = "not_dated"
    COLUMN_GONE = "column_gone"
    TABLE_GONE = "table_gone"
    WRONG_TYPE = "wrong_type"
    EMPTY_WINDOW = "empty_window"
    NO_VALUES = "no_values"
    DIVISION_BY_ZERO = "division_by_zero"
    NOT_A_NUMBER = "not_a_number"
    NO_SOURCE = "no_source"
    NOT_COMPARED = "not_compared"
    NOT_MEASURED = "not_measured"
    TIMED_OUT = "timed_out"
    REFUSED = "refused"
    FAILED = "failed"


WORDS: dict[Reason, str] = {
    Reason.NO_HISTORY: "there are too few earlier values",
    Reason.WINDOW_MISSING: "the window to compare with was not measured or does not exist",
    Reason.NOT_DATED: "the window is no date or hour, so that no earlier one can be found",
    Reason.COLUMN_GONE: "the table has no such column any more",
    Reason.TABLE_GONE: "the table, or another one that the rule reads, is not there",
    Reason.WRONG_TYPE: "the column's type does not fit the metric",
    Reason.EMPTY_WINDOW: "the window has no rows",
    Reason.NO_VALUES: "the column is NULL in all rows of the window",
    Reason.DIVISION_BY_ZERO: "it would divide by zero",
    Reason.NOT_A_NUMBER: "the column has NaN or infinite values",
    Reason.NO_SOURCE: "no pipeline of change capture feeds the table",
    Reason.NOT_COMPARED: "it was not compared with its source in the last two days",
    Reason.NOT_MEASURED: "it has not been measured",
    Reason.TIMED_OUT: "it took longer than its budget and was cancelled",
    Reason.REFUSED: "the query is not allowed",
    Reason.FAILED: "it could not be measured",
}


def words(code: str) -> str:
    """Return what people read for a stored code; an unknown code as it is."""
    return WORDS[Reason(code)] if code in set(Reason) else code
