"""What is kept of a Java error shows no value of a row to people who may see none."""

import pytest

from portal.spark.java_errors import row_free_text, without_values

SECRET = "4111-1111-1111-1111"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "org.apache.spark.SparkNumberFormatException",
            f"[CAST_INVALID_INPUT] The value '{SECRET}' of the type \"STRING\" cannot be cast",
        ),
        ("java.lang.NumberFormatException", f'For input string: "{SECRET}"'),
        ("java.time.format.DateTimeParseException", f"Text '{SECRET}' could not be parsed"),
        ("java.text.ParseException", f'Unparseable date: "{SECRET}"'),
        ("java.lang.RuntimeException", SECRET),
        ("org.apache.hudi.exception.HoodieKeyException", f"recordKey value: {SECRET} is empty"),
        ("org.apache.spark.api.python.PythonException", f"ValueError: {SECRET}"),
        ("org.apache.spark.SparkRuntimeException", f"[USER_RAISED_EXCEPTION] {SECRET}"),
        ("org.apache.spark.SparkException", f"[{SECRET}] is in brackets"),
    ],
)
def test_no_value_of_a_row_is_told(name: str, message: str) -> None:
    said = without_values(name, message)
    assert SECRET not in said
    assert said.startswith(name.rpartition(".")[2])


def test_what_helps_is_told() -> None:
    cast = "[CAST_INVALID_INPUT] The value 'x'"
    assert without_values("a.b.SparkNumberFormatException", cast) == (
        "SparkNumberFormatException (CAST_INVALID_INPUT)"
    )
    gone = "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column `vat` cannot be resolved.\nplan"
    said = without_values("org.apache.spark.sql.catalyst.ExtendedAnalysisException", gone)
    assert said == f"ExtendedAnalysisException: {gone.partition(chr(10))[0]}"
    file = "File does not exist: /lake/orders/dt=1/a.parquet"
    assert without_values("java.io.FileNotFoundException", file).endswith(file)
    assert without_values("java.lang.NullPointerException", "") == "NullPointerException"


def test_an_error_that_is_not_of_java_tells_its_class_alone() -> None:
    assert row_free_text(ValueError(SECRET)) == "ValueError"
