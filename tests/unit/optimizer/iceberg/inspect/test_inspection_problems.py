"""What a failed inspection says of the table."""

from optimizer.iceberg.inspect.domain.problems import UNREADABLE, inspection_problem


def test_a_file_that_is_not_there_is_named_with_what_to_do() -> None:
    causes = [("java.io.FileNotFoundException", "File file:/lake/t/m.avro does not exist\nat x")]
    code, reason = inspection_problem("sales.t", causes, "x")
    assert code == UNREADABLE
    assert "(FileNotFoundException: File file:/lake/t/m.avro does not exist)" in reason
    assert "Bring the file back" in reason


def test_without_a_java_error_the_message_is_said() -> None:
    assert "(it went wrong)" in inspection_problem("sales.t", [], "it went wrong")[1]
