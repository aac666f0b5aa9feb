"""What Java throws, told as an error of the portal."""

import pytest

from optimizer.iceberg.access.jobs.errors import UNREACHABLE, sorted_causes

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
    error = sorted_causes(causes, "sales.t")
    assert error is not None
    assert error.code == UNREACHABLE
    assert error.message.startswith("sales.t: the metastore does not answer (")
    assert "Bring the file back" not in error.message
