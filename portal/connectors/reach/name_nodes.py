"""Compares what NameNodes are to Kerberos with what Java's clients expect by a lake's hadoop_conf.

hdfs-native takes the name that a NameNode gives, so the portal's own calls succeed where Spark's
drivers are going to refuse: they accept the configured principal alone.
"""

import re
import socket
from fnmatch import fnmatchcase

from portal.connectors.kerberos.gssapi import ClientContext, GssError
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import credentials, failure
from portal.connectors.lake_config import LakeConfig
from portal.connectors.name_services.offers import offered_service
from portal.connectors.name_services.principals import PRINCIPAL, expected_principals
from portal.connectors.name_services.properties import node_addresses
from portal.lake.errors import ExternalFailure
from portal.spark.masters.hadoop_conf import reads_host_files

_PATTERN = f"{PRINCIPAL}.pattern"
_CHOICE = re.compile(r"\{([^{}]*)\}")


def check_principals(config: LakeConfig, kerberos: Kerberos, authority: str) -> str:
    """Return what the NameNodes of a file system are to Kerberos, where drivers accept them.

    A NameNode that does not answer is told of, as long as another one does.

    Raises:
        ExternalFailure: `check.name_node_principal`, `check.unreachable`, or `kerberos.*` where
            the KDC has no such service.
    """
    found, silent = [], []
    for address in node_addresses(config.hadoop_conf, authority):
        try:
            offered = offered_service(address)
        except (OSError, ValueError) as error:
            silent.append(f"{address} does not answer ({error})")
            continue
        _check(config, address, offered)
        found.append(f"{address} is {offered}")
    if not found:
        raise ExternalFailure(
            "check.unreachable",
            f"{'; '.join(silent)}. Check that it runs, and the firewall from this host.",
            service="filesystem",
            retryable=True,
        )
    for principal in sorted(set(expected_principals(config.hadoop_conf, authority).values())):
        _check_known(kerberos, principal)
    return "; ".join([*found, *silent])


def _check(config: LakeConfig, address: str, offered: str) -> None:
    if not offered:
        raise _refused(
            f"The NameNode {address} asks for no Kerberos, and drivers want a proof of it"
        )
    conf = config.hadoop_conf
    if pattern := conf.get(_PATTERN, ""):
        # Java completes the name by the realm of the host; only its own files say which it is.
        if not _matches(offered, pattern):
            raise _refused(f"The NameNode {address} is {offered}, which {_PATTERN} does not match")
        return
    wanted = conf.get(PRINCIPAL, "").strip().rpartition("@")[0]
    if not wanted:
        if reads_host_files(config):
            return  # they say it, or drivers tell so
        raise _refused(f"The NameNode {address} is {offered}, and hadoop_conf has no {PRINCIPAL}")
    if offered not in _accepted(wanted, address):
        raise _refused(f"The NameNode {address} is {offered}, and {PRINCIPAL} is {conf[PRINCIPAL]}")


def _accepted(wanted: str, address: str) -> set[str]:
    """Return the names of a NameNode that Java accepts: it takes a host's canonical name."""
    host = address.rpartition(":")[0]
    return {wanted.replace("_HOST", name.lower()) for name in (host, socket.getfqdn(host))}


def _matches(offered: str, pattern: str) -> bool:
    name, _, realm = pattern.rpartition("@")
    return any(fnmatchcase(offered, one) for one in _alternatives(name or realm))


def _alternatives(pattern: str) -> list[str]:
    """Return the patterns that Hadoop's `{a,b}` stands for."""
    if (choice := _CHOICE.search(pattern)) is None:
        return [pattern]
    before, after = pattern[: choice.start()], pattern[choice.end() :]
    words = choice[1].split(",")
    return [one for word in words for one in _alternatives(f"{before}{word}{after}")]


def _check_known(kerberos: Kerberos, principal: str) -> None:
    """Get a ticket for a service: the realm of its name is not in what a NameNode says."""
    with credentials(kerberos, principal) as found:
        context = ClientContext(found, principal)
        try:
            context.step(b"")
        except GssError as error:
            raise failure(error, kerberos.principal, principal) from error
        finally:
            context.close()


def _refused(reason: str) -> ExternalFailure:
    return ExternalFailure(
        "check.name_node_principal",
        f"{reason}. The portal's own calls succeed, but Spark's drivers refuse that NameNode. Copy "
        f"{PRINCIPAL} from the cluster's hdfs-site.xml into hadoop_conf of lakes.json.",
        service="filesystem",
        retryable=False,
    )
