"""Finds a cluster's refusal of a submission in what spark-submit wrote, and says what to do."""

import re
from collections.abc import Iterable, Sequence

from portal.lake.errors import ExternalFailure

_Refusal = tuple[str, re.Pattern[str], str]
_QUEUE = r"(?P<queue>[\w.-]+)"
_REFUSALS = (
    (
        "yarn.queue_unknown",
        re.compile(rf"to unknown queue: {_QUEUE}"),
        "YARN has no queue '{queue}'. Name one that it has in spark_queues of lakes.json.",
    ),
    (
        "yarn.queue_full",
        re.compile(rf"Queue {_QUEUE} already has (?P<n>\d+) applications"),
        "YARN's queue '{queue}' has {n} applications and takes no more. Start the run later, or "
        "raise maximum-applications of the queue.",
    ),
    (
        "yarn.queue_closed",
        re.compile(rf"User (?P<user>\S+) does not have permission to submit \S+ to queue {_QUEUE}"),
        "YARN does not let '{user}' submit to its queue '{queue}'. Add this user to the queue's "
        "acl_submit_applications, or name another queue in spark_queues of lakes.json.",
    ),
    (
        "yarn.too_large",
        re.compile(
            r"Required (?P<part>\w+) memory \((?P<wanted>\d+).*?is above the max threshold "
            r"\((?P<most>\d+) MB\)"
        ),
        "The run asks for {wanted} MB and more for its {part}; the largest container of this YARN "
        "has {most} MB. Lower spark.{setting}.memory in spark_conf of lakes.json, or raise "
        "yarn.scheduler.maximum-allocation-mb and yarn.nodemanager.resource.memory-mb.",
    ),
    (
        "kubernetes.forbidden",
        re.compile(
            r'User "(?P<user>[^"]+)" cannot (?P<verb>\w+) resource "(?P<what>\w+)" .{0,80}?'
            r'in the namespace "(?P<namespace>[^"]+)"'
        ),
        "Kubernetes does not let '{user}' {verb} {what} in the namespace '{namespace}'. Apply "
        "deploy/kubernetes/portal.yaml there, or correct spark.kubernetes.namespace in spark_conf "
        "of lakes.json.",
    ),
    (
        "kubernetes.unauthorized",
        re.compile(r"code=401|Message: Unauthorized"),
        "Kubernetes does not know the portal. Name the file of its token in "
        "spark.kubernetes.authenticate.submission.oauthTokenFile, and look whether it has ended.",
    ),
    (
        "kubernetes.no_namespace",
        re.compile(r'namespaces "(?P<namespace>[^"]+)" not found'),
        "Kubernetes has no namespace '{namespace}'. Apply deploy/kubernetes/portal.yaml, or "
        "correct spark.kubernetes.namespace in spark_conf of lakes.json.",
    ),
    (
        "kubernetes.no_account",
        re.compile(r"looking up service account (?P<namespace>[\w.-]+)/(?P<account>[\w.-]+?):"),
        "The namespace '{namespace}' has no service account '{account}'. Apply "
        "deploy/kubernetes/portal.yaml, or correct "
        "spark.kubernetes.authenticate.driver.serviceAccountName.",
    ),
    (
        "kubernetes.quota",
        re.compile(
            r"exceeded quota: (?P<quota>[\w.-]+), requested: (?P<wanted>\S+), "
            r"used: (?P<used>\S+), limited: (?P<most>\S+?)\. "
        ),
        "The quota '{quota}' of the namespace allows {most}; {used} is in use, and the run asks "
        "for {wanted}. Start it later, ask for less in spark_conf of lakes.json, or raise the "
        "quota.",
    ),
)
# Of Java's clients of Hadoop, on any master: they accept no service but the one they were told.
_OF_SERVICES = (
    (
        "kerberos.server_principal",
        re.compile(
            r"Server has invalid Kerberos principal: (?P<offered>[^\s,]+), "
            r"(?:expecting|doesn't match the pattern): (?P<expected>[^\s;]+)"
        ),
        "The driver refuses a service of the cluster: it is {offered}, and the driver expects "
        "{expected}. Copy that service's principal from the cluster's own files into hadoop_conf "
        "of lakes.json: dfs.namenode.kerberos.principal of NameNodes, which check_lake compares, "
        "yarn.resourcemanager.principal of YARN.",
    ),
    (
        "kerberos.no_server_principal",
        re.compile(r"Failed to specify server's Kerberos principal name"),
        "The driver does not know as whom a service of the cluster has to prove itself. Copy "
        "dfs.namenode.kerberos.principal, and with YARN yarn.resourcemanager.principal, from the "
        "cluster's own files into hadoop_conf of lakes.json.",
    ),
)
# What may be there the next time without anybody's doing.
_PASSING = frozenset({"yarn.queue_full", "kubernetes.quota"})


def refusal_in(lines: Iterable[str]) -> ExternalFailure | None:
    """Return a cluster's refusal as an error with the next step; None where the lines hold none."""
    return _found((*_REFUSALS, *_OF_SERVICES), lines)


def service_refused_in(lines: Iterable[str]) -> ExternalFailure | None:
    """Return the driver's own refusal of a service, which is no matter of its master."""
    return _found(_OF_SERVICES, lines)


def _found(refusals: Sequence[_Refusal], lines: Iterable[str]) -> ExternalFailure | None:
    text = "\n".join(lines)
    for code, pattern, message in refusals:
        if (found := pattern.search(text)) is not None:
            words = found.groupdict()
            words["setting"] = "executor" if words.get("part") == "executor" else "driver"
            return ExternalFailure(
                code,
                message.format(**words),
                service=code.partition(".")[0],
                retryable=code in _PASSING,
            )
    return None
