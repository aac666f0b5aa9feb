"""Which services the NameNodes of a file system are to Kerberos, as a lake's hadoop_conf says.

hdfs-native takes the name that a NameNode gives; Java's clients refuse any other than this one.
"""

from collections.abc import Mapping

from portal.connectors.name_services.properties import node_addresses

PRINCIPAL = "dfs.namenode.kerberos.principal"


def expected_principals(conf: Mapping[str, str], authority: str) -> dict[str, str]:
    """Return the principal of each NameNode by its address; empty where none is configured."""
    wanted = conf.get(PRINCIPAL, "").strip()
    if not wanted:
        return {}
    return {
        address: wanted.replace("_HOST", address.rpartition(":")[0])
        for address in node_addresses(conf, authority)
    }


def service_of(conf: Mapping[str, str], authority: str) -> str:
    """Return what messages call the service of a file system: its principals, where known."""
    names = sorted(set(expected_principals(conf, authority).values()))
    place = f"HDFS at {authority}"
    return f"{' or '.join(names)} ({place})" if names else place
