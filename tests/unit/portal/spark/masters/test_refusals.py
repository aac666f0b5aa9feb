"""Refusals in the words of Hadoop 3.4.3, Kubernetes 1.34 and Spark 3.5 get a next step."""

from collections.abc import Callable, Iterable

import pytest

from portal.lake.errors import ExternalFailure
from portal.spark.masters.refusals import refusal_in, service_refused_in

_UNKNOWN = (
    'Exception in thread "main" org.apache.hadoop.yarn.exceptions.YarnException: Failed to submit '
    "application_1795906315882_0002 to YARN : Application application_1795906315882_0002 submitted "
    "by user lakewarden to unknown queue: nope"
)
_CLOSED = (
    "Caused by: org.apache.hadoop.security.AccessControlException: User lakewarden does not have "
    "permission to submit application_1795906315882_0003 to queue closed"
)
_LARGE = (
    'Exception in thread "main" java.lang.IllegalArgumentException: Required executor memory '
    "(9216 MB), offHeap memory (0) MB, overhead (921 MB), and PySpark memory (0 MB) is above the "
    "max threshold (2048 MB) of this cluster! Please check the values of "
    "'yarn.scheduler.maximum-allocation-mb' and/or 'yarn.nodemanager.resource.memory-mb'."
)
_LARGE_DRIVER = (
    'Exception in thread "main" java.lang.IllegalArgumentException: Required AM memory (9216+921 '
    "MB) is above the max threshold (2048 MB) of this cluster! Please check the values of "
    "'yarn.scheduler.maximum-allocation-mb' and/or 'yarn.nodemanager.resource.memory-mb'."
)
_FULL = (
    "Failed to submit application_1795906315882_0006 to YARN : org.apache.hadoop.security."
    "AccessControlException: Queue root.narrow already has 1 applications, cannot accept "
    "submission of application: application_1795906315882_0006"
)
_POST = (
    'Exception in thread "main" io.fabric8.kubernetes.client.KubernetesClientException: Failure '
    "executing: POST at: https://127.0.0.1:6443/api/v1/namespaces/nowhere/pods. Message: "
)
_FORBIDDEN = (
    f'{_POST}pods is forbidden: User "lakewarden" cannot create resource "pods" in API group "" in '
    'the namespace "nowhere". Received status: Status(apiVersion=v1, code=403, details='
)
_ACCOUNT = (
    f'{_POST}pods "lw-1-driver" is forbidden: error looking up service account lakewarden/nobody: '
    'serviceaccount "nobody" not found. Received status: Status(apiVersion=v1, code=403,'
)
_QUOTA = (
    f'{_POST}pods "lw-1-driver" is forbidden: exceeded quota: lakewarden, requested: '
    "requests.memory=280Gi, used: requests.memory=0, limited: requests.memory=160Gi. Received "
    "status: Status("
)
_SERVER = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling o78.parquet.\n: java.io."
    "IOException: DestHost:destPort localhost:36045 , LocalHost:localPort vm/127.0.0.1:0. Failed "
    "on local exception: java.io.IOException: Couldn't set up IO streams: java.lang."
    "IllegalArgumentException: "
)
_OTHER_SERVER = (
    f"{_SERVER}Server has invalid Kerberos principal: hdfs/localhost@LAKEWARDEN.TEST, expecting: "
    "nn/localhost@LAKEWARDEN.TEST"
)
_UNMATCHED = (
    f"{_SERVER}Server has invalid Kerberos principal: hdfs/localhost@LAKEWARDEN.TEST, doesn't "
    "match the pattern: nn/*@LAKEWARDEN.TEST"
)
_UNNAMED = f"{_SERVER}Failed to specify server's Kerberos principal name"


@pytest.mark.parametrize(
    ("line", "code", "words", "retryable"),
    [
        (_UNKNOWN, "yarn.queue_unknown", "no queue 'nope'", False),
        (_CLOSED, "yarn.queue_closed", "'lakewarden' submit to its queue 'closed'", False),
        (_LARGE, "yarn.too_large", "9216 MB and more for its executor", False),
        (_LARGE, "yarn.too_large", "Lower spark.executor.memory", False),
        (_LARGE_DRIVER, "yarn.too_large", "Lower spark.driver.memory", False),
        (_FULL, "yarn.queue_full", "'root.narrow' has 1 applications", True),
        (_FORBIDDEN, "kubernetes.forbidden", "'lakewarden' create pods in the namespace", False),
        (_ACCOUNT, "kubernetes.no_account", "no service account 'nobody'", False),
        (_QUOTA, "kubernetes.quota", "asks for requests.memory=280Gi", True),
        (
            f'{_POST}namespaces "nowhere" not found. Received status: Status(',
            "kubernetes.no_namespace",
            "no namespace 'nowhere'",
            False,
        ),
        (f"{_POST}Unauthorized. Received", "kubernetes.unauthorized", "oauthTokenFile", False),
    ],
)
def test_a_refusal_says_what_to_do(line: str, code: str, words: str, retryable: bool) -> None:
    found = refusal_in(["26/11/28 INFO Client: Submitting application", line, "\tat a.b(C.java:1)"])
    assert found is not None
    assert (found.code, found.retryable) == (code, retryable)
    assert words in found.message


def test_other_ends_are_no_refusals() -> None:
    assert refusal_in(["java.lang.OutOfMemoryError: Java heap space", ""]) is None
    assert service_refused_in([_UNKNOWN, _FULL]) is None


@pytest.mark.parametrize("find", [refusal_in, service_refused_in])
@pytest.mark.parametrize(
    ("line", "code", "words"),
    [
        (
            _OTHER_SERVER,
            "kerberos.server_principal",
            "it is hdfs/localhost@LAKEWARDEN.TEST, and the driver expects nn/localhost@LAKEWARDEN."
            "TEST. Copy",
        ),
        (_UNMATCHED, "kerberos.server_principal", "expects nn/*@LAKEWARDEN.TEST. Copy"),
        (_UNNAMED, "kerberos.no_server_principal", "Copy dfs.namenode.kerberos.principal"),
    ],
)
def test_a_driver_that_accepts_no_such_service_says_what_to_do(
    find: Callable[[Iterable[str]], ExternalFailure | None], line: str, code: str, words: str
) -> None:
    found = find(["26/11/29 INFO SparkContext: Running", line, "\t... 63 more"])
    assert found is not None
    assert (found.code, found.retryable) == (code, False)
    assert words in found.message
