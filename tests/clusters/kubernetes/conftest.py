"""A Kubernetes without nodes, with the accounts of deploy/kubernetes, and a lake that uses it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from pytest_django import Settings

from portal.connectors.lake_config import LakeConfig
from portal.lake.ids import LakeId
from stack.ledger import Ledger
from stack.places import REPO
from stack.servers.kubernetes import PORTAL, ApiServer, Kubernetes
from tests.support.lakes import local_lake

NAMESPACE = "lakewarden"
MANIFESTS = REPO / "deploy" / "kubernetes" / "portal.yaml"
_PLACES = {
    "Namespace": "/api/v1/namespaces",
    "ServiceAccount": f"/api/v1/namespaces/{NAMESPACE}/serviceaccounts",
    "ResourceQuota": f"/api/v1/namespaces/{NAMESPACE}/resourcequotas",
    "Role": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/roles",
    "RoleBinding": f"/apis/rbac.authorization.k8s.io/v1/namespaces/{NAMESPACE}/rolebindings",
}


@pytest.fixture(scope="package")
def kubernetes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ApiServer]:
    """An API server to which the manifests of deploy/kubernetes were applied."""
    home = tmp_path_factory.mktemp("kubernetes")
    cluster = Kubernetes(home, ledger=Ledger(home / "stack.json"))
    try:
        cluster.start()
        for made in yaml.safe_load_all(MANIFESTS.read_text(encoding="utf-8")):
            cluster.api.make(_PLACES[made["kind"]], _for_users(made))
        yield cluster.api
    finally:
        cluster.stop()


def _for_users(made: dict[str, Any]) -> dict[str, Any]:
    """Give the portal's role to the account of the token file: nobody makes tokens here."""
    if made["kind"] == "RoleBinding" and made["metadata"]["name"] == "lakewarden-portal":
        user = {"kind": "User", "name": PORTAL, "apiGroup": "rbac.authorization.k8s.io"}
        return {**made, "subjects": [*made["subjects"], user]}
    return made


@pytest.fixture
def on_kubernetes(kubernetes: ApiServer, tmp_path: Path) -> LakeConfig:
    """A lake on local files whose drivers are pods."""
    submission = "spark.kubernetes.authenticate.submission"
    conf = {
        "spark.kubernetes.namespace": NAMESPACE,
        "spark.kubernetes.container.image": "registry.example.org/spark-py:3.5",
        "spark.kubernetes.authenticate.driver.serviceAccountName": "lakewarden",
        f"{submission}.caCertFile": str(kubernetes.certificate),
        f"{submission}.oauthTokenFile": str(kubernetes.token_file(PORTAL)),
        "spark.driver.memory": "1g",
    }
    lake = local_lake(tmp_path, LakeId("main"))
    return replace(lake, spark_master=f"k8s://{kubernetes.address}", spark_conf=conf)


def govern(config: LakeConfig, settings: Settings, var: Path) -> None:
    """Have the portal govern this lake alone."""
    entry = config.as_dict()
    del entry["lake"]
    lakes = var / "lakes.json"
    lakes.write_text(json.dumps({"main": entry}), encoding="utf-8")
    settings.LAKEWARDEN_LAKES = str(lakes)
    settings.LAKEWARDEN_VAR = var
