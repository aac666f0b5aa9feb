"""What a failed inspection says of the table, and what of the metastore."""

import pytest

from optimizer.iceberg.inspect.domain.problems import (
    UNREACHABLE,
    UNREADABLE,
    inspection_problem,
)

REFUSED = (
    "Could not connect to meta store using any of the URIs provided. Most recent failure: "
    "org.apache.thrift.transport.TTransportException: java.net.ConnectException: Connection refused"
)


@pytest.mark.parametrize(
    "causes",
    [
        [("org.apache.hadoop.hive.metastore.api.MetaException", REFUSED)],
        [
            ("org.apache.iceberg.hive.RuntimeMetaException", "Failed to connect"),
            ("org.apache.thrift.transport.TTransportException", ""),
            ("java.net.SocketTimeoutException", "Read timed out"),
        ],
    ],
)
def test_a_metastore_that_does_not_answer_is_no_fault_of_the_table(
    causes: list[tuple[str, str]],
) -> None:
    code, reason = inspection_problem("sales.t", causes, "x")
    assert code == UNREACHABLE
    assert reason.startswith("sales.t: the metastore does not answer (")
    assert "Bring the file back" not in reason


def test_a_file_that_is_not_there_is_named_with_what_to_do() -> None:
    causes = [("java.io.FileNotFoundException", "File file:/lake/t/m.avro does not exist\nat x")]
    code, reason = inspection_problem("sales.t", causes, "x")
    assert code == UNREADABLE
    assert "(FileNotFoundException: File file:/lake/t/m.avro does not exist)" in reason
    assert "Bring the file back" in reason


def test_without_a_java_error_the_message_is_said() -> None:
    assert "(it went wrong)" in inspection_problem("sales.t", [], "it went wrong")[1]
