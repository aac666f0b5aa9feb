"""Chooses the Spark settings that a submission to YARN or Kubernetes needs.

None of them is secret: whoever may see an application on the cluster may read its environment.
"""

import sys
from collections.abc import Mapping
from dataclasses import replace

from portal.connectors.lake_config import LakeConfig

ANY_KIND = "default"
DEPLOYED_VARIABLE = "LW_DEPLOYED"
"""Tells a driver that it is on a cluster: its passwords and its heartbeat are in the spool."""
DEPLOY_MODE = "spark.submit.deployMode"
NAMESPACE, DEFAULT_NAMESPACE = "spark.kubernetes.namespace", "default"
TAG_LABEL = "lakewarden-tag"
"""The label of pods that has a run's tag."""
_PYTHON = "python"
_QUEUE, _YARNS_OWN_QUEUE = "spark.yarn.queue", "default"


def is_local(config: LakeConfig) -> bool:
    """Whether a lake's applications run within their driver's process."""
    return config.spark_master.startswith("local")


def is_yarn(config: LakeConfig) -> bool:
    """Whether a lake's applications run on YARN."""
    return config.spark_master == "yarn"


def is_kubernetes(config: LakeConfig) -> bool:
    """Whether a lake's applications run on Kubernetes."""
    return config.spark_master.startswith("k8s://")


def has_cluster(config: LakeConfig) -> bool:
    """Whether a lake's applications run on a cluster that is not Spark's own."""
    return is_yarn(config) or is_kubernetes(config)


def is_deployed(config: LakeConfig) -> bool:
    """Whether drivers run on the cluster, so that this host's processes say nothing of them."""
    return mode_of(config) == "cluster"


def mode_of(config: LakeConfig) -> str:
    """Return where a lake's drivers run: `client` on the submitting host, `cluster` beyond it."""
    return config.spark_conf.get(DEPLOY_MODE, _default_mode(config))


def for_kind(config: LakeConfig, kind: str, *, tag: str, uploads: str) -> LakeConfig:
    """Return a lake's settings for a run of a kind; other masters get nothing more.

    What spark-submit uploads for a driver on Kubernetes goes below `uploads`, which is the run's.
    What the lake itself says in `spark_conf` holds, but for what drivers find in their environment.
    """
    if is_yarn(config):
        return _with(config, _yarn(config, kind), "spark.yarn.appMasterEnv.")
    if is_kubernetes(config):
        return _with(config, _kubernetes(config, tag, uploads), "spark.kubernetes.driverEnv.")
    return config


def queue_of(config: LakeConfig, kind: str) -> str:
    """Return the queue for a kind of run; empty: the cluster decides."""
    return config.spark_queues.get(kind, config.spark_queues.get(ANY_KIND, ""))


def submitted_queue(config: LakeConfig, kind: str) -> str:
    """Return the queue of YARN that spark-submit names for a kind of run."""
    return config.spark_conf.get(_QUEUE) or queue_of(config, kind) or _YARNS_OWN_QUEUE


def _with(config: LakeConfig, first: Mapping[str, str], prefix: str) -> LakeConfig:
    conf = {**first, **config.spark_conf}
    if is_deployed(config):
        conf |= {f"{prefix}{name}": value for name, value in _environment(config).items()}
    return replace(config, spark_conf=conf)


def _yarn(config: LakeConfig, kind: str) -> dict[str, str]:
    settings = {
        DEPLOY_MODE: _default_mode(config),
        # The submitter stays, so that an end on the cluster is seen within a second.
        "spark.yarn.submit.waitAppCompletion": "true",
        "spark.pyspark.python": _python(config, here=sys.executable),
    }
    if not is_deployed(config):
        settings["spark.pyspark.driver.python"] = sys.executable
    if queue := queue_of(config, kind):
        settings[_QUEUE] = queue
    if config.spark_python:
        settings["spark.yarn.dist.archives"] = f"{config.spark_python}#{_PYTHON}"
    return settings


def _kubernetes(config: LakeConfig, tag: str, uploads: str) -> dict[str, str]:
    settings = {
        DEPLOY_MODE: _default_mode(config),
        "spark.kubernetes.submission.waitAppCompletion": "true",
        f"spark.kubernetes.driver.label.{TAG_LABEL}": tag,
        f"spark.kubernetes.executor.label.{TAG_LABEL}": tag,
        # The job and the product's packages are not in the image.
        "spark.kubernetes.file.upload.path": uploads,
        "spark.pyspark.python": _python(config, here="python3"),
    }
    if config.spark_python:
        settings["spark.archives"] = f"{config.spark_python}#{_PYTHON}"
    return settings


def _default_mode(config: LakeConfig) -> str:
    return "cluster" if is_kubernetes(config) else "client"


def _python(config: LakeConfig, *, here: str) -> str:
    """Return the interpreter on the cluster: the packed one, or that which is installed there."""
    return f"./{_PYTHON}/bin/python" if config.spark_python else here


def _environment(config: LakeConfig) -> dict[str, str]:
    """Return what a driver on the cluster finds in its environment."""
    found = {
        DEPLOYED_VARIABLE: "1",
        "LC_ALL": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "SPARK_SCALA_VERSION": "2.12",
    }
    if is_yarn(config):
        # The files that the submitter was given; its own path means nothing on another host.
        found["HADOOP_CONF_DIR"] = "{{PWD}}/__spark_conf__/__hadoop_conf__"
    if config.hadoop_user is not None:
        found["HADOOP_USER_NAME"] = config.hadoop_user
    return found
