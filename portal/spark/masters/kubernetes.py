"""Asks an API server of Kubernetes for the pods of drivers by their tag, and deletes them.

By its REST interface: three requests need no client library. Credentials are those that Spark
submits with, and are read from their files each time, since tokens are short-lived.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, ClassVar, Self

import requests

from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.spark.masters.application import KILL_WAIT_SECONDS, Application
from portal.spark.masters.settings import DEFAULT_NAMESPACE, NAMESPACE, TAG_LABEL
from portal.spark.masters.web import HOST_AUTHORITIES, WebSession

_FINAL = frozenset({"Succeeded", "Failed"})
_CREDENTIALS = "spark.kubernetes.authenticate.submission."
_LINES = 1_000
# Of those that are waited for; by default a pod may take 30 s.
_GRACE_SECONDS = int(KILL_WAIT_SECONDS / 2)
_DONE = frozenset({200, 202})


class KubernetesApi:
    """The pods of one namespace."""

    name: ClassVar[str] = "Kubernetes"

    def __init__(self, address: str, namespace: str, credentials: Mapping[str, str]) -> None:
        self._pods = f"{address}/api/v1/namespaces/{namespace}/pods"
        self._namespace = namespace
        self._credentials = credentials

    @classmethod
    def of(cls, config: LakeConfig) -> Self:
        """Return that of a lake, with what its submissions log in by."""
        address = config.spark_master.removeprefix("k8s://").rstrip("/")
        conf = config.spark_conf
        return cls(
            address if "://" in address else f"https://{address}",
            conf.get(NAMESPACE, DEFAULT_NAMESPACE),
            {
                name.removeprefix(_CREDENTIALS): value
                for name, value in conf.items()
                if name.startswith(_CREDENTIALS)
            },
        )

    def tagged(self, tag: str) -> list[Application]:
        """Return the driver's pods with a tag, the newest last; a deleted one is no more there."""
        selector = f"spark-role=driver,{TAG_LABEL}={tag}"
        answer = self._ask("GET", self._pods, {"labelSelector": selector})
        try:
            now = parsedate_to_datetime(answer.headers["Date"])
            pods = sorted(answer.json()["items"], key=lambda pod: str(pod["metadata"]["name"]))
            return [_application(pod, now=now) for pod in pods]
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            # A proxy, or something else at its address: it says nothing of pods.
            raise _unreachable(error) from error

    def kill(self, application: str) -> None:
        """Delete a pod, which has 10 s to end by itself; one that has gone is no error."""
        grace = {"gracePeriodSeconds": str(_GRACE_SECONDS)}
        self._ask("DELETE", f"{self._pods}/{application}", grace, missing_ok=True)

    def driver_log(self, application: Application, name: str, *, n_bytes: int) -> bytes:
        """Return the end of a pod's log, which has both outputs in one; empty where none is."""
        if name != "stdout" or not application.logs:
            return b""
        url = f"{self._pods}/{application.id}/log"
        try:
            answer = self._ask("GET", url, {"tailLines": str(_LINES)})
        except ExternalFailure:
            return b""
        return answer.content[-n_bytes:]

    def _ask(
        self, method: str, url: str, query: Mapping[str, str], *, missing_ok: bool = False
    ) -> requests.Response:
        try:
            answer = self._request(method, url, query)
        except (requests.RequestException, OSError) as error:
            raise _unreachable(error) from error
        # A redirect is no answer of an API server.
        if answer.status_code in _DONE or (
            missing_ok and answer.status_code == requests.codes.not_found
        ):
            return answer
        raise ExternalFailure(
            "kubernetes.refused",
            f"Kubernetes refuses to say or end what runs in the namespace '{self._namespace}': "
            f"{_said(answer)}. Give the portal's account the role of deploy/kubernetes, and name "
            f"its token in {_CREDENTIALS}oauthTokenFile.",
            service="kubernetes",
            retryable=True,
        )

    def _request(self, method: str, url: str, query: Mapping[str, str]) -> requests.Response:
        files = self._credentials
        headers = {}
        if token := files.get("oauthTokenFile"):
            secret = Path(token).read_text(encoding="utf-8").strip()
            headers["Authorization"] = f"Bearer {secret}"
        names = ("clientCertFile", "clientKeyFile")
        pair = (files[names[0]], files[names[1]]) if all(name in files for name in names) else None
        with WebSession() as session:
            return session.ask(
                method,
                url,
                params=dict(query),
                headers=headers,
                cert=pair,
                verify=files.get("caCertFile", HOST_AUTHORITIES),
            )


def _unreachable(error: Exception) -> ExternalFailure:
    return ExternalFailure(
        "kubernetes.unreachable",
        f"The API server of Kubernetes gives no answer ({type(error).__name__}). The state of the "
        "application is not known; it is asked again.",
        service="kubernetes",
        retryable=True,
    )


def _said(answer: requests.Response) -> str:
    try:
        return f"{answer.json()['message'].rstrip('.')} (HTTP {answer.status_code})"
    except (ValueError, KeyError, TypeError, AttributeError):
        return f"HTTP {answer.status_code}"


def _application(pod: Mapping[str, Any], *, now: datetime) -> Application:
    metadata, status = pod["metadata"], pod.get("status", {})
    phase = str(status.get("phase", ""))
    created = datetime.fromisoformat(metadata["creationTimestamp"]).astimezone(UTC)
    return Application(
        id=str(metadata["name"]),
        state=phase,
        is_final=phase in _FINAL,
        place=f"the namespace '{metadata['namespace']}' of Kubernetes",
        queue=str(metadata["namespace"]),
        diagnostics=_ended(status) if phase in _FINAL else "",
        waits_for=_waits_for(status) if phase == "Pending" else "",
        waited=now - created,
        logs="" if phase == "Pending" else "log",
    )


def _waits_for(status: Mapping[str, Any]) -> str:
    """Say why a pod is not running: its image, its place on a node, or nobody looks for one."""
    for container in status.get("containerStatuses", []):
        if waiting := container.get("state", {}).get("waiting"):
            return _joined(waiting)
    for condition in status.get("conditions", []):
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            return _joined(condition)
    return "no node has been chosen for its pod"


def _ended(status: Mapping[str, Any]) -> str:
    found = [_joined(status)]
    for container in status.get("containerStatuses", []):
        if ended := container.get("state", {}).get("terminated"):
            found.append(f"{_joined(ended)} (exit code {ended.get('exitCode')})")
    return "\n".join(one for one in found if one)


def _joined(told: Mapping[str, Any]) -> str:
    parts = [str(told[name]).rstrip(". ") for name in ("reason", "message") if told.get(name)]
    return ": ".join(parts)
