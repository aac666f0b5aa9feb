"""YARN's refusals, in the words of Hadoop 3.4.3 and Spark 3.5, become errors with a next step."""

import pytest

from portal.spark.masters.refusals import refusal_in

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


@pytest.mark.parametrize(
    ("line", "code", "words", "retryable"),
    [
        (_UNKNOWN, "yarn.queue_unknown", "no queue 'nope'", False),
        (_CLOSED, "yarn.queue_closed", "'lakewarden' submit to its queue 'closed'", False),
        (_LARGE, "yarn.too_large", "9216 MB and more for its executor", False),
        (_LARGE, "yarn.too_large", "Lower spark.executor.memory", False),
        (_LARGE_DRIVER, "yarn.too_large", "Lower spark.driver.memory", False),
        (_FULL, "yarn.queue_full", "'root.narrow' has 1 applications", True),
    ],
)
def test_a_refusal_says_what_to_do(line: str, code: str, words: str, retryable: bool) -> None:
    found = refusal_in(["26/11/28 INFO Client: Submitting application", line, "\tat a.b(C.java:1)"])
    assert found is not None
    assert (found.code, found.retryable) == (code, retryable)
    assert words in found.message


def test_other_ends_are_no_refusals() -> None:
    assert refusal_in(["java.lang.OutOfMemoryError: Java heap space", ""]) is None
