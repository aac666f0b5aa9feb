"""Which StarRocks clusters read the stack's lake, and the file that tells the portal where.

`bi` is of 3.x and has each lake as a catalog, `reports` is of 2.2 and has the first one as a
resource. Both are simulated, over the stack's own metastores, and start when they are first asked
for.
"""

import json
import secrets
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from stack.ledger import Ledger
from stack.process import free_port
from stack.servers.base import Server
from stack.servers.starrocks import StarRocks
from stack.starrocks.spec import OLD, OPEN, Access, Spec, Timings, User

CATALOG, RESOURCE = "hive", "hive0"
USER = "lakewarden"


class Clusters:
    """The clusters over the metastore at `uris`, and over those that `catalogs` is given besides.

    `timings` and `catalogs` may be changed before a cluster is asked for.
    """

    def __init__(self, var: Path, *, ledger: Ledger, uris: str, access: Access = OPEN) -> None:
        self.file = var / "starrocks.json"
        self.password_file = var / "cluster_passwords" / "starrocks.password"
        self.timings = Timings()
        self.catalogs = {CATALOG: uris}
        self._access = access
        self._var = var
        self._ledger = ledger
        self._uris = uris
        self._running: dict[str, StarRocks] = {}

    @cached_property
    def new(self) -> StarRocks:
        """A cluster of 3.x, running."""
        return self._started("bi", Spec(catalogs=dict(self.catalogs)))

    @cached_property
    def old(self) -> StarRocks:
        """A cluster of 2.2, running; its tables are added by whoever needs them."""
        return self._started("reports", Spec(OLD, resources={RESOURCE: self._uris}))

    def running(self) -> list[Server]:
        """Return those that were asked for."""
        return list(self._running.values())

    def told(self) -> list[dict[str, Any]]:
        """Return what the file says of those that were asked for."""
        return [self._told(name, server) for name, server in self._running.items()]

    def password(self) -> str:
        """Return the password of the clusters' only user, kept in its 0600 file."""
        if not self.password_file.exists():
            self.password_file.parent.mkdir(mode=0o700, exist_ok=True)
            self.password_file.touch(mode=0o600)
            self.password_file.write_text(secrets.token_urlsafe(24), encoding="utf-8")
        return self.password_file.read_text(encoding="utf-8")

    # -- inside ----------------------------------------------------------------------------

    def _started(self, name: str, spec: Spec) -> StarRocks:
        spec = replace(spec, users={USER: User(self.password())}, timings=self.timings)
        spec = replace(spec, access=self._access)
        spec = self._where_it_was(name, spec)
        server = StarRocks(self._var, ledger=self._ledger, spec=spec, name=f"starrocks-{name}")
        self._running[name] = server
        server.start()
        server.wait_ready()
        self._write()
        return server

    def _where_it_was(self, name: str, spec: Spec) -> Spec:
        """Keep the ports of an earlier run: a portal that knows the cluster finds it again."""
        known = [cluster for cluster in self._written() if cluster["name"] == name]
        places = [place.rsplit(":", 1) for cluster in known for place in cluster["front_ends"]]
        ports = {host: int(port) for host, port in places}
        members = [
            replace(member, port=free_port(member.host, wanted=ports.get(member.host, 0)))
            for member in spec.members
        ]
        return replace(spec, members=tuple(members))

    def _written(self) -> list[dict[str, Any]]:
        if not self.file.exists():
            return []
        clusters: list[dict[str, Any]] = json.loads(self.file.read_text(encoding="utf-8"))
        return clusters

    def _write(self) -> None:
        others = [known for known in self._written() if known["name"] not in self._running]
        self.file.write_text(json.dumps([*others, *self.told()], indent=2), encoding="utf-8")
        self._ledger.note(starrocks=str(self.file))

    def _told(self, name: str, server: StarRocks) -> dict[str, Any]:
        return {
            "name": name,
            "version": server.spec.version,
            "front_ends": [f"{host}:{port}" for host, port in server.addresses],
            "user": USER,
            "password_file": str(self.password_file),
        }
