"""Reads from a lake's Hadoop properties which NameNodes each name service has.

The addresses stand there for the clients, so path rules take the NameNodes' other names from the
same place.
"""

from collections.abc import Mapping

_SERVICES = "dfs.nameservices"
_PROXIES = "dfs.client.failover.proxy.provider"
_ADDRESSES = ("dfs.namenode.rpc-address", "dfs.namenode.http-address", "dfs.namenode.https-address")
_DEFAULT_PORT = "8020"
_DEADLINE = "ipc.client.rpc-timeout.ms"
_LEAST_DEADLINE_MS = 1_000


def name_nodes(conf: Mapping[str, str], service: str) -> tuple[str, ...]:
    """Return the ids of a name service's NameNodes; empty where it has one without an id."""
    return _listed(conf.get(f"dfs.ha.namenodes.{service}", ""))


def node_addresses(conf: Mapping[str, str], authority: str) -> tuple[str, ...]:
    """Return `host:port` of each NameNode behind the authority of a path, all in lower case."""
    found = [
        conf.get(f"{_ADDRESSES[0]}.{authority}.{node}", "") for node in name_nodes(conf, authority)
    ]
    addresses = (one.strip().lower() for one in found or [authority])
    return tuple(one if ":" in one else f"{one}:{_DEFAULT_PORT}" for one in addresses if one)


def derived_aliases(conf: Mapping[str, str]) -> dict[str, str]:
    """Return what each name of a name service stands for: the one name that clients can open.

    That is the service's own name where its NameNodes have ids; a NameNode without one is known to
    clients by its address alone. The port of HDFS is left out of addresses that have the default
    one, so the bare host is a name of the service, too.
    """
    found = {}
    for service in _services(conf):
        name = service.lower()
        if not name_nodes(conf, service):
            name = conf.get(f"{_ADDRESSES[0]}.{service}", "").strip().lower() or name
        found[service.lower()] = name
        for key in _keys(conf, service):
            address = conf.get(key, "").strip().lower()
            if not address:
                continue
            found[address] = name
            host, _, port = address.rpartition(":")
            if key.startswith(_ADDRESSES[0]) and port == _DEFAULT_PORT:
                found[host] = name
    return found


def check_name_services(conf: Mapping[str, str]) -> None:
    """Refuse properties with which no NameNode would be found, or an old state would be read.

    Raises:
        KeyError: the address of a NameNode is missing.
        TypeError: the properties ask for reads from observers, or a time is no number or too short.
    """
    deadline = conf.get(_DEADLINE, "0").strip()
    if not deadline.isdecimal():
        raise TypeError(f"hadoop_conf.{_DEADLINE} must be milliseconds, such as 60000")
    if 0 < int(deadline) < _LEAST_DEADLINE_MS:
        raise TypeError(
            f"hadoop_conf.{_DEADLINE} must be milliseconds, such as 60000, or 0 for 60 s: "
            f"{deadline} is less than a second, in which a sound NameNode need not answer"
        )
    for service in _services(conf):
        if "Observer" in conf.get(f"{_PROXIES}.{service}", ""):
            raise TypeError(
                f"hadoop_conf.{_PROXIES}.{service} must not read from observers: "
                "they answer from the past. Set ConfiguredFailoverProxyProvider"
            )
        for node in name_nodes(conf, service):
            if not conf.get(f"{_ADDRESSES[0]}.{service}.{node}", "").strip():
                raise KeyError(f"hadoop_conf.{_ADDRESSES[0]}.{service}.{node}")


def deadline_seconds(conf: Mapping[str, str]) -> float | None:
    """Return how long Hadoop's clients wait for one answer; None where it is not said."""
    return int(conf.get(_DEADLINE, "0")) / 1000 or None


def turned(conf: Mapping[str, str], service: str, n: int) -> dict[str, str]:
    """Return the properties with the NameNodes in an order that begins with the n-th of them."""
    nodes = name_nodes(conf, service)
    if not nodes:
        return dict(conf)
    start = n % len(nodes)
    order = ",".join((*nodes[start:], *nodes[:start]))
    return {**conf, f"dfs.ha.namenodes.{service}": order}


def _services(conf: Mapping[str, str]) -> tuple[str, ...]:
    return _listed(conf.get(_SERVICES, ""))


def _keys(conf: Mapping[str, str], service: str) -> list[str]:
    nodes = name_nodes(conf, service)
    ends = [f"{service}.{node}" for node in nodes] if nodes else [service]
    return [f"{kind}.{end}" for kind in _ADDRESSES for end in ends]


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part for part in (one.strip() for one in text.split(",")) if part)
