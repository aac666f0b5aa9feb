"""A real YARN over the stack's HDFS: a ResourceManager and a NodeManager, each a JVM of its own.

Two JVMs, so that a test can stop the node alone. Containers are ordinary processes of this host,
in process groups of their own: `NodeManager.container_pids` finds them.
"""

import os
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import requests
from requests.auth import AuthBase

from portal.lake.errors import PortalError
from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS, spark_home
from stack.process import LOOPBACK, SHORT_LIVED_JVM, end_group, free_port, stop_still
from stack.servers.base import Server
from stack.servers.hdfs import LOG4J
from stack.servers.metastore import site_xml
from stack.spark_classes import driver_settings

USER = "lakewarden"
MEMORY_MB = 4096
LARGEST_MB = 2048
# A queue that takes from nobody, one that is full with a single application, one that starts no
# second one beside the first, and one whose applications may lose their containers to others.
CLOSED, NARROW, SINGLE, PREEMPTED = "closed", "narrow", "single", "preempted"
CALLS = ("address", "scheduler.address", "resource-tracker.address", "admin.address")
"""What a ResourceManager serves beside its web service."""
SCHEDULING = {
    "yarn.resourcemanager.scheduler.class": "org.apache.hadoop.yarn.server.resourcemanager"
    ".scheduler.capacity.CapacityScheduler",
    # Without it nothing is ever taken away, and every queue says so.
    "yarn.resourcemanager.scheduler.monitor.enable": "true",
    "yarn.scheduler.minimum-allocation-mb": "128",
    "yarn.scheduler.maximum-allocation-mb": str(LARGEST_MB),
    "yarn.acl.enable": "true",
    "yarn.admin.acl": "root",
}
_QUEUES = {"default": 20, "governance": 40, CLOSED: 10, NARROW: 10, SINGLE: 10, PREEMPTED: 10}


class _Yarn(Server):
    """What both daemons have in common: the class path, the configuration, a web port."""

    main = ""
    heap = "256m"
    host = LOOPBACK

    def __init__(self, var: Path, *, ledger: Ledger, conf: Path) -> None:
        super().__init__(var, ledger=ledger)
        self.conf = conf

    def command(self) -> Sequence[str]:
        """Return the argv of the JVM."""
        return [
            *("java", f"-Xmx{self.heap}", *SHORT_LIVED_JVM),
            *("--add-opens=java.base/java.lang=ALL-UNNAMED",),
            *("-cp", f"{self.conf}:{JARS / 'yarn'}/*", self.main),
        ]

    def environment(self) -> Mapping[str, str]:
        """Return the environment: containers of the node inherit parts of it."""
        return {**super().environment(), "HADOOP_USER_NAME": USER}

    def get(self, path: str) -> dict[str, object]:
        """Return what its web service says at a path; empty while it does not answer."""
        try:
            answer = requests.get(
                f"http://{self.host}:{self.port}/ws/v1/{path}", auth=self.proof(), timeout=5
            )
            return dict(answer.json()) if answer.ok else {}
        except (OSError, ValueError, PortalError):
            return {}

    def proof(self) -> AuthBase | None:
        """Return how a client of its web service says who it is; None: it does not."""
        return None


class ResourceManager(_Yarn):
    """Queues, applications and their states; `port` is that of its web service."""

    name = "resource-manager"
    main = "org.apache.hadoop.yarn.server.resourcemanager.ResourceManager"
    ready_seconds = 90.0

    def is_ready(self) -> bool:
        """Whether it is started and has its node."""
        metrics = self.get("cluster/metrics").get("clusterMetrics")
        return isinstance(metrics, dict) and metrics["activeNodes"] == 1


class NodeManager(_Yarn):
    """The one node; `port` is that of its web service."""

    name = "node-manager"
    main = "org.apache.hadoop.yarn.server.nodemanager.NodeManager"
    ready_seconds = 90.0

    def is_ready(self) -> bool:
        """Whether its web service answers."""
        return bool(self.get("node"))

    def container_pids(self) -> list[int]:
        """Return the processes of its containers: they work below its local directory."""
        below = str(self.directory / "local")
        found = []
        for entry in Path("/proc").iterdir():
            with suppress(OSError):  # it ended meanwhile, or is somebody else's
                if entry.name.isdigit() and str((entry / "cwd").readlink()).startswith(below):
                    found.append(int(entry.name))
        return found

    def launched_with(self, application: str, name: str) -> list[Path]:
        """Return the working directories of an application's containers that have a file."""
        found = self.directory.glob(f"local/usercache/*/appcache/{application}/container_*")
        return [one for one in found if (one / name).exists()]

    def files_with(self, secret: bytes, *, below: Path | None = None) -> list[Path]:
        """Return its files that have these bytes; `below` is a container, with what is linked."""
        top = below or self.directory
        found = (
            Path(folder) / name
            for folder, _, names in os.walk(top, followlinks=below is not None)
            for name in names
        )
        return [file for file in found if file.is_file() and secret in file.read_bytes()]

    def freeze(self) -> list[int]:
        """Stop the node and its containers, as if it could not be reached; returns the latter."""
        stop_still(self.process.pid)
        pids = self.container_pids()
        for pid in pids:
            with suppress(ProcessLookupError, FileNotFoundError):
                stop_still(pid)
        return pids

    def thaw_containers(self) -> None:
        """Let the stopped containers go on, the node not yet."""
        for pid in self.container_pids():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)

    def thaw(self) -> None:
        """Let the node and its containers go on."""
        self.thaw_containers()
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGCONT)

    def stop(self) -> None:
        """End the node and what its containers left."""
        self.thaw()
        super().stop()
        deadline = time.monotonic() + 20
        while pids := self.container_pids():
            for pid in pids:
                with suppress(ProcessLookupError):
                    end_group(os.getpgid(pid), grace_seconds=0)
            if time.monotonic() > deadline:
                raise StackError(f"Containers of the node are still there: {pids}")


class YarnCluster:
    """Both daemons over one configuration."""

    def __init__(self, var: Path, *, ledger: Ledger, default_fs: str) -> None:
        self.conf = var / "yarn-conf"
        self.default_fs = default_fs
        self.manager = ResourceManager(var, ledger=ledger, conf=self.conf)
        self.node = NodeManager(var, ledger=ledger, conf=self.conf)
        self._ports = {
            name: free_port() for name in ("rm", "scheduler", "tracker", "admin", "nm", "localizer")
        }

    @property
    def client_properties(self) -> dict[str, str]:
        """What a client has to know, as a lake's hadoop_conf says it."""
        return {
            "yarn.resourcemanager.hostname": LOOPBACK,
            "yarn.resourcemanager.address": f"{LOOPBACK}:{self._ports['rm']}",
            "yarn.resourcemanager.scheduler.address": f"{LOOPBACK}:{self._ports['scheduler']}",
            "yarn.resourcemanager.webapp.address": f"{LOOPBACK}:{self.manager.port}",
        }

    def start(self) -> None:
        """Start both and wait until the node is one of the cluster."""
        self._write()
        self.manager.start()
        self.node.start()
        self.node.wait_ready()
        self.manager.wait_ready()

    def stop(self) -> None:
        """End both, the node and its containers first."""
        self.node.stop()
        self.manager.stop()

    def _write(self) -> None:
        write_conf(self.conf, self._yarn(), default_fs=self.default_fs)

    def _yarn(self) -> dict[str, str]:
        rm = "yarn.resourcemanager."
        return {
            **self.client_properties,
            f"{rm}resource-tracker.address": f"{LOOPBACK}:{self._ports['tracker']}",
            f"{rm}admin.address": f"{LOOPBACK}:{self._ports['admin']}",
            **SCHEDULING,
            **node_settings(self.node, calls=self._ports["nm"], localizer=self._ports["localizer"]),
        }


def write_conf(
    conf: Path, yarn: Mapping[str, str], *, default_fs: str, core: Mapping[str, str] | None = None
) -> None:
    """Write the files of a daemon into its folder; `core` is what its core-site.xml has besides."""
    conf.mkdir(parents=True, exist_ok=True)
    common = {"fs.defaultFS": default_fs, "hadoop.tmp.dir": str(conf / "tmp")}
    for name, properties in {
        "core-site.xml": {**common, **(core or {})},
        "yarn-site.xml": dict(yarn),
        "capacity-scheduler.xml": _queues(),
    }.items():
        (conf / name).write_text(site_xml(properties), encoding="utf-8")
    (conf / "log4j.properties").write_text(LOG4J, encoding="utf-8")


def node_settings(node: NodeManager, *, calls: int, localizer: int) -> dict[str, str]:
    """Return what a node reads of itself, with the ports that it serves beside its pages."""
    nm = "yarn.nodemanager."
    return {
        f"{nm}hostname": LOOPBACK,
        f"{nm}address": f"{LOOPBACK}:{calls}",
        f"{nm}localizer.address": f"{LOOPBACK}:{localizer}",
        f"{nm}webapp.address": f"{LOOPBACK}:{node.port}",
        f"{nm}local-dirs": str(node.directory / "local"),
        f"{nm}log-dirs": str(node.directory / "containers"),
        f"{nm}resource.memory-mb": str(MEMORY_MB),
        f"{nm}resource.cpu-vcores": "8",
        f"{nm}vmem-check-enabled": "false",
        f"{nm}pmem-check-enabled": "false",
        f"{nm}delete.debug-delay-sec": "600",
        f"{nm}disk-health-checker.max-disk-utilization-per-disk-percentage": "100.0",
        f"{nm}disk-health-checker.min-free-space-per-disk-mb": "0",
        f"{nm}sleep-delay-before-sigkill.ms": "250",
        f"{nm}remote-app-log-dir": "/tmp/yarn-logs",  # noqa: S108  (a folder of the lake)
        "yarn.log-aggregation-enable": "true",
    }


def yarn_settings(conf: Mapping[str, str], *, mode: str) -> dict[str, str]:
    """Return a stack's Spark settings for applications of its YARN, one executor each.

    Those of its local master go: the class that writes its files is nowhere but there.
    """
    local = {*driver_settings(), "spark.local.dir"}
    loopback = {
        f"spark.{whose}.SPARK_LOCAL_IP": LOOPBACK for whose in ("executorEnv", "yarn.appMasterEnv")
    }
    return {
        **{name: value for name, value in conf.items() if name not in local},
        **loopback,
        "spark.submit.deployMode": mode,
        # This host is the node: nothing has to be uploaded.
        "spark.yarn.jars": f"local:{spark_home()}/jars/*",
        "spark.driver.memory": "768m",
        "spark.yarn.am.memory": "512m",
        "spark.executor.memory": "512m",
        "spark.executor.instances": "1",
    }


def _queues() -> dict[str, str]:
    root = "yarn.scheduler.capacity.root"
    found = {
        f"{root}.queues": ",".join(_QUEUES),
        # Rights of a queue come from those above it too, so the root gives none.
        f"{root}.acl_submit_applications": " ",
        f"{root}.acl_administer_queue": " ",
        "yarn.scheduler.capacity.resource-calculator": "org.apache.hadoop.yarn.util.resource"
        ".DefaultResourceCalculator",
        "yarn.scheduler.capacity.maximum-am-resource-percent": "1.0",
    }
    for name, share in _QUEUES.items():
        found |= {
            f"{root}.{name}.capacity": str(share),
            f"{root}.{name}.maximum-capacity": "100",
            f"{root}.{name}.user-limit-factor": "100",
            f"{root}.{name}.disable_preemption": str(name != PREEMPTED).lower(),
            f"{root}.{name}.acl_submit_applications": " " if name == CLOSED else USER,
        }
    found[f"{root}.{NARROW}.maximum-applications"] = "1"
    found[f"{root}.{SINGLE}.maximum-am-resource-percent"] = "0.01"
    return found
