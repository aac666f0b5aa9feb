"""Runs submitted to a real API server, whose pods no node takes: what is made, said and ended."""

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from pytest_django import Settings

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.runs.domain import RunState
from portal.runs.execution.applications import applications_of, launched_of
from portal.runs.kinds.registry import RunKind
from portal.runs.models import Run
from portal.runs.records.spools import log_file, open_spool
from portal.spark.launch import is_alive
from portal.spark.masters.kubernetes import KubernetesApi
from stack.servers.kubernetes import STRANGER, ApiServer
from tests.clusters.kubernetes.conftest import NAMESPACE, govern
from tests.clusters.yarn.drop_kind import ended, polled_until, started

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.spark]
_SUBMISSION = "spark.kubernetes.authenticate.submission"


class Scan(RunKind):
    """A scan with a secret of its own."""

    name = "test.pod_scan"
    title = "Scan"
    job = "lifecycle.inventory.jobs.scan"
    attempts = 1

    def __init__(self) -> None:
        self.secret = uuid4().hex

    def environment(self, run: Run) -> dict[str, str]:
        return {"LW_SECRET": self.secret}


def changed(lake: LakeConfig, conf: dict[str, str]) -> LakeConfig:
    return replace(lake, spark_conf={**lake.spark_conf, **conf})


def waits(run: Run) -> Callable[[], bool]:
    return lambda: Run.objects.get(pk=run.pk).message.startswith("Waits in")


def objects(kubernetes: ApiServer, what: str, run: Run) -> list[dict[str, Any]]:
    """Return what the namespace has of a run: by its label, or by the name that Spark gives."""
    items = kubernetes.ask("GET", f"/api/v1/namespaces/{NAMESPACE}/{what}").json()["items"]
    return [one for one in items if run.tag in json.dumps(one["metadata"])]


def test_a_pod_is_made_with_its_tag_and_no_secret_and_is_deleted_by_the_tag(
    on_kubernetes: LakeConfig, kubernetes: ApiServer, settings: Settings, tmp_path: Path
) -> None:
    govern(on_kubernetes, settings, tmp_path)
    kind = Scan()
    run = started(kind)
    polled_until(run, waits(run))
    assert run.message == (
        f"Waits in the namespace '{NAMESPACE}' of Kubernetes for less than a minute: no node has "
        "been chosen for its pod."
    )
    (pod,) = objects(kubernetes, "pods", run)
    assert pod["metadata"]["labels"].items() >= {
        ("lakewarden-tag", run.tag),
        ("spark-role", "driver"),
    }
    assert pod["spec"]["serviceAccountName"] == "lakewarden"
    (container,) = pod["spec"]["containers"]
    assert container["resources"]["requests"] == {"cpu": "1", "memory": "1433Mi"}
    assert {"name": "LW_DEPLOYED", "value": "1"} in container["env"]
    # What others may read of the run knows no secret; the driver takes it from its spool.
    known = json.dumps([pod, *objects(kubernetes, "configmaps", run)])
    assert "spark.properties" in known
    assert kind.secret not in known + log_file(run).read_text()
    assert open_spool(run).read_part("environment.json")["LW_SECRET"] == kind.secret
    run.refresh_from_db()
    assert run.application_id == pod["metadata"]["name"]
    asked = timezone.now() - timedelta(minutes=2)
    Run.objects.filter(pk=run.pk).update(cancel_requested_by="olga", cancel_requested_at=asked)
    assert ended(run) is RunState.CANCELLED
    assert (applications_of(run), objects(kubernetes, "pods", run)) == ([], [])
    assert "environment.json" not in open_spool(run).fs.names(open_spool(run).root)


def test_a_pod_that_waits_for_too_long_is_deleted_and_the_run_says_why(
    on_kubernetes: LakeConfig, kubernetes: ApiServer, settings: Settings, tmp_path: Path
) -> None:
    govern(on_kubernetes, settings, tmp_path)
    run = started(Scan())
    polled_until(run, waits(run))
    Run.objects.filter(pk=run.pk).update(submitted_at=timezone.now() - Scan.longest)
    assert ended(run) is RunState.FAILED, log_file(run).read_text()[-6000:]
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == "spark.queue_wait"
    assert "no node has been chosen for its pod" in run.error["message"]
    assert objects(kubernetes, "pods", run) == []


@pytest.mark.parametrize(
    ("change", "code", "words"),
    [
        (
            {"spark.kubernetes.authenticate.driver.serviceAccountName": "nobody"},
            "kubernetes.no_account",
            "has no service account 'nobody'",
        ),
        (
            {"spark.driver.memory": "200g"},
            "kubernetes.quota",
            "'lakewarden' of the namespace allows requests.memory=160Gi",
        ),
    ],
)
def test_what_kubernetes_refuses_is_explained(
    on_kubernetes: LakeConfig,
    kubernetes: ApiServer,
    settings: Settings,
    tmp_path: Path,
    change: dict[str, str],
    code: str,
    words: str,
) -> None:
    hold_quota(kubernetes)
    govern(changed(on_kubernetes, change), settings, tmp_path)
    run = started(Scan())
    assert ended(run) is RunState.FAILED, log_file(run).read_text()[-6000:]
    run.refresh_from_db()
    assert run.error is not None
    assert run.error["code"] == code
    assert words in run.error["message"]


def test_where_the_portal_may_not_look_a_run_is_not_taken_for_ended(
    on_kubernetes: LakeConfig, kubernetes: ApiServer, settings: Settings, tmp_path: Path
) -> None:
    lake = changed(on_kubernetes, {"spark.kubernetes.namespace": "nowhere"})
    govern(lake, settings, tmp_path)
    run = started(Scan())
    polled_until(run, lambda: not is_alive(launched_of(run)))
    said = log_file(run).read_text()
    assert 'User "lakewarden" cannot create resource "pods"' in said, said
    polled_until(run, lambda: "cannot list" in Run.objects.get(pk=run.pk).message)
    assert run.state == RunState.RUNNING
    assert "Give the portal's account the role of deploy/kubernetes" in run.message
    stranger = {f"{_SUBMISSION}.oauthTokenFile": str(kubernetes.token_file(STRANGER))}
    with pytest.raises(ExternalFailure, match='"stranger" cannot list') as told:
        KubernetesApi.of(changed(on_kubernetes, stranger)).tagged(run.tag)
    assert (told.value.code, told.value.retryable) == ("kubernetes.refused", True)
    with pytest.raises(ExternalFailure, match="gives no answer"):
        KubernetesApi.of(replace(lake, spark_master="k8s://127.0.0.1:1")).tagged(run.tag)


def hold_quota(kubernetes: ApiServer) -> None:
    """Tell the API server what the quota has, as a controller does that this cluster lacks."""
    path = f"/api/v1/namespaces/{NAMESPACE}/resourcequotas/lakewarden"
    quota = kubernetes.ask("GET", path).json()
    hard = quota["spec"]["hard"]
    quota["status"] = {"hard": hard, "used": dict.fromkeys(hard, "0")}
    assert kubernetes.ask("PUT", f"{path}/status", quota).ok
