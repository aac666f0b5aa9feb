"""Random lakes whose paths are equal, nested, nearly alike, spelled in many ways, or none at all.

Imports nothing of the product either: what is made here is what a metastore might hold.
"""

import random

from tests.support.path_oracle import Database, Lake, Table

OWNERS = ("a", "ab", "a-", "é")
SERVERS = ("hdfs://ns", "hdfs://NS", "hdfs://nn1:8020", "hdfs://nn2:8020", "")
ALIASES = {"nn1:8020": "ns", "nn2:8020": "ns"}
ELSEWHERE = ("hdfs://other", "s3a://bucket", "file://")
NO_PATHS = ("relative/place", "hdfs://ns/user/../x", "hdfs://ns/user/./x")
# What a name is often followed by where sorting by text goes wrong, and one that is longer.
TAILS = ("", "c", "-", ".b", "0", "_old")
TEMPLATES = (
    (("*", "/user/{owner}"),),
    (("d1", "/user"), ("*", "/user/{owner}")),
    (("d0", "hdfs://nn1:8020//user/{owner}/"), ("*", "/user/{owner}")),
    (("*", "/"),),
)


def random_lake(rng: random.Random) -> Lake:
    """Make a lake of one to four databases with up to seven tables."""
    databases: list[Database] = []
    for number in range(rng.randint(1, 4)):
        owner = rng.choice(OWNERS)
        place = _beside(rng, [db.location for db in databases], owner, f"d{number}")
        named = rng.choice(("", owner, owner, owner, rng.choice(OWNERS)))
        databases.append(Database(f"d{number}", named or owner, place))
    tables: list[Table] = []
    for number in range(rng.randint(0, 7)):
        db = rng.choice(databases)
        owner = db.owner if rng.random() < 0.8 else rng.choice((*OWNERS, ""))
        others = [db.location for db in databases] + [one.location for one in tables]
        place = (
            _below(rng, db.location, f"t{number}")
            if rng.random() < 0.6
            else _beside(rng, others, owner, f"t{number}")
        )
        tables.append(
            Table(
                db.name,
                f"t{number}",
                owner,
                place,
                is_view=rng.random() < 0.1,
                partitions=tuple(
                    (f"dt={n}", _partition(rng, place, n)) for n in range(rng.randint(0, 2))
                ),
            )
        )
    return Lake(tuple(databases), tuple(tables), aliases=ALIASES, templates=rng.choice(TEMPLATES))


def _beside(rng: random.Random, others: list[str], owner: str, name: str) -> str:
    """Return a place of its own, or one that collides with another's."""
    lot = rng.random()
    if lot < 0.03:
        return rng.choice(NO_PATHS)
    if others and lot < 0.35:
        return _again(rng, rng.choice(others), name)
    server = rng.choice(ELSEWHERE) if rng.random() < 0.05 else rng.choice(SERVERS)
    return _spelled(rng, f"{server}/user/{owner}/{name}{rng.choice(TAILS)}")


def _again(rng: random.Random, other: str, name: str) -> str:
    """Return another's place, one below it, one that only begins alike, or one above it."""
    plain = other.rstrip("/")
    return _spelled(
        rng,
        rng.choice(
            (
                plain,
                f"{plain}/{name}",
                f"{plain}{rng.choice(TAILS)}",
                f"{plain}{rng.choice(TAILS)}/{name}",
                plain.rpartition("/")[0] or "/",
            )
        ),
    )


def _below(rng: random.Random, parent: str, name: str) -> str:
    return _spelled(rng, f"{parent.rstrip('/')}/{name}{rng.choice(TAILS)}")


def _partition(rng: random.Random, table: str, number: int) -> str:
    lot = rng.random()
    if lot < 0.7:
        return _below(rng, table, f"dt={number}")
    if lot < 0.75:
        return rng.choice(NO_PATHS)
    return _again(rng, table, f"dt={number}") if lot < 0.9 else f"hdfs://ns/elsewhere/{number}"


def _spelled(rng: random.Random, place: str) -> str:
    """Spell a place in another way: doubled slashes, a closing one, another name of its server."""
    if rng.random() < 0.15:
        place += "/"
    if rng.random() < 0.15:
        head, slash, tail = place.rpartition("/user/")
        place = f"{head}//user///{tail}" if slash else place
    if rng.random() < 0.2 and place.startswith("hdfs://ns/"):
        place = f"HDFS://NN1:8020/{place.removeprefix('hdfs://ns/')}"
    return place
