"""Connects the portal to the front ends of a cluster, and reports how each responds.

Only own addresses of front ends are used. Everything here takes its time on the network, so nothing
of it may run inside a transaction.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from refresh.clusters.domain.addresses import Place
from refresh.clusters.domain.frontends import FeState
from refresh.core.connectors.front_end import Budget, FrontEndClient, Login
from refresh.core.domain.answers import Answer
from refresh.core.domain.versions import Dialect
from refresh.models import Cluster

# SHOW FRONTENDS takes 40 s while one of them is frozen.
PATIENT = Budget(query_timeout=60, connect=3.0, beyond=10)
# A person waits for it in a web request, and is told so.
BRIEF = Budget(query_timeout=10, connect=3.0, beyond=2)
# A front end that is well says at once that we may come in.
_GREETING = Budget(query_timeout=1, connect=2.0, beyond=2)
_AT_ONCE = 8
_ORDER = {FeState.ALIVE: 0, FeState.FROZEN: 1, FeState.DEAD: 2}


@dataclass(frozen=True, slots=True)
class Member:
    """A front end to speak to."""

    place: Place
    dialect: Dialect = Dialect.CATALOGS


def members_of(cluster: Cluster) -> list[Member]:
    """Return the front ends of a cluster, those that live first, then its other addresses."""
    started = cluster.front_ends.exclude(query_port=0)
    rows = sorted(started, key=lambda row: (_ORDER[row.state], row.name))
    found = [Member(Place(row.host, row.query_port), row.dialect) for row in rows]
    known = {member.place for member in found}
    dialect = found[0].dialect if found else Dialect.CATALOGS
    given = [Place.read(address) for address in cluster.addresses]
    return found + [Member(place, dialect) for place in given if place not in known]


def connected(
    members: Iterable[Member], *, login: Login, budget: Budget = PATIENT
) -> Iterator[tuple[Member, FrontEndClient | Answer]]:
    """Connect to one after the other; each connection is closed when the next is asked for."""
    for member in members:
        client = FrontEndClient.connect(
            member.place.host,
            member.place.port,
            login=login,
            dialect=member.dialect,
            budget=budget,
        )
        if isinstance(client, Answer):
            yield member, client
            continue
        with client:
            yield member, client


def greeted(members: Iterable[Member], *, login: Login) -> dict[Place, Answer | None]:
    """Say hello to all at once, each for a few seconds at most; None = it let us in."""
    asked = list(members)
    if not asked:
        return {}
    with ThreadPoolExecutor(max_workers=min(_AT_ONCE, len(asked))) as pool:
        answers = pool.map(lambda member: _greet(member, login), asked)
        return dict(zip((member.place for member in asked), answers, strict=True))


def _greet(member: Member, login: Login) -> Answer | None:
    client = FrontEndClient.connect(
        member.place.host,
        member.place.port,
        login=login,
        dialect=member.dialect,
        budget=_GREETING,
    )
    if isinstance(client, Answer):
        return client
    client.close()
    return None
