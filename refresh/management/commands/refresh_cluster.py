"""Take StarRocks clusters in, edit, list, pause and resume them from a shell."""

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.lake.errors import PortalError
from refresh.clusters.services.clusters import (
    AT_THE_SHELL,
    cluster_add,
    cluster_pause,
    cluster_read,
    cluster_resume,
)
from refresh.clusters.services.editing import cluster_edit
from refresh.clusters.services.trial import ClusterParams
from refresh.models import Cluster


class Command(BaseCommand):
    """Keeps clusters; each change is audited as made at the shell."""

    help = "Keep StarRocks clusters: add and edit (tried out first), list, pause, resume."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Take what the pages ask for too."""
        steps = parser.add_subparsers(dest="step", required=True)
        add = steps.add_parser("add", help="try a cluster out and take it in; twice is no change")
        add.add_argument("name")
        add.add_argument("--at", action="append", required=True, metavar="HOST:PORT")
        add.add_argument("--user", required=True, help="the user on the cluster")
        add.add_argument("--password-file", required=True, help="absolute path of a 0600 file")
        edit = steps.add_parser("edit", help="try other addresses or another login out, keep them")
        edit.add_argument("name")
        edit.add_argument("--at", action="append", metavar="HOST:PORT", help="replaces them all")
        edit.add_argument("--user")
        edit.add_argument("--password-file")
        steps.add_parser("list", help="say how each cluster stands")
        for step in ("pause", "resume"):
            one = steps.add_parser(step)
            one.add_argument("name")
            one.add_argument("--reason", required=True)

    def handle(self, *args: Any, **options: Any) -> None:
        """Take the step."""
        now = datetime.now(UTC)
        try:
            if options["step"] == "add":
                self._add(options, now)
            elif options["step"] == "edit":
                self._edit(options, now)
            elif options["step"] == "list":
                self._list()
            else:
                self._switch(options, now)
        except PortalError as error:
            raise CommandError(f"{error.code}: {error.message}") from error

    def _add(self, options: dict[str, Any], now: datetime) -> None:
        wish = ClusterParams(tuple(options["at"]), options["user"], options["password_file"])
        made = cluster_add(options["name"], wish, by=AT_THE_SHELL, now=now)
        cluster_read(made, now=now)
        self._say(made)

    def _edit(self, options: dict[str, Any], now: datetime) -> None:
        cluster = _named(options["name"])
        known = ClusterParams.of(cluster)
        wish = ClusterParams(
            tuple(options["at"] or known.addresses),
            known.user if options["user"] is None else options["user"],
            options["password_file"] or known.password_file,
        )
        cluster_edit(cluster, wish, version=cluster.version, by=AT_THE_SHELL, now=now)
        cluster_read(cluster, now=now)
        self._say(cluster)

    def _list(self) -> None:
        for cluster in Cluster.objects.order_by("name").prefetch_related("front_ends"):
            self._say(cluster)

    def _switch(self, options: dict[str, Any], now: datetime) -> None:
        cluster = _named(options["name"])
        change = cluster_pause if options["step"] == "pause" else cluster_resume
        change(cluster, by=AT_THE_SHELL, reason=options["reason"], now=now)
        cluster.refresh_from_db()
        self._say(cluster)

    def _say(self, cluster: Cluster) -> None:
        states = [f"{fe.place} {fe.state.lower()}" for fe in _front_ends(cluster)]
        said = "paused: " + cluster.paused_reason if cluster.is_paused else "kept fresh"
        self.stdout.write(f"{cluster.name} ({said}): {', '.join(states) or 'not read yet'}")
        for line in cluster.problem.splitlines():
            self.stdout.write(f"  {line}")


def _named(name: str) -> Cluster:
    cluster = Cluster.objects.filter(name=name).first()
    if cluster is None:
        raise CommandError(f"There is no cluster {name}.")
    return cluster


def _front_ends(cluster: Cluster) -> list[Any]:
    return sorted(cluster.front_ends.all(), key=lambda fe: fe.name)
