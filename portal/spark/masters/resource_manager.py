"""Asks YARN's ResourceManager for applications by their tag, and ends them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import requests

from portal.connectors.kerberos.negotiate import Negotiate
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.lake_config import LakeConfig
from portal.lake.errors import ExternalFailure
from portal.spark.masters.application import Application
from portal.spark.masters.waiting import reason_of
from portal.spark.masters.web import HOST_AUTHORITIES, WebSession

_FINAL = frozenset({"FINISHED", "FAILED", "KILLED"})
_NOT_STARTED = frozenset({"NEW", "NEW_SAVING", "SUBMITTED", "ACCEPTED"})
_MANAGER = "yarn.resourcemanager."
_WEB = f"{_MANAGER}webapp."
# Hadoop's own, for members of which only the host is named.
_PORTS = {"http": 8088, "https": 8090}
_UNAUTHORIZED, _FORBIDDEN = 401, 403
_CAPACITY = "capacityScheduler"
_LOGS = re.compile(
    r"(?P<node>https?://[^/]+)/node/containerlogs/(?P<container>container_\w+)/[^/]*"
)


_DISTRUST = re.compile(r"certificate verify failed: (?P<reason>.+?)\.? \(_ssl")
"""The reason in what requests raises: its classes tell no certificate from a broken connection."""

_leaders: dict[tuple[str, ...], str] = {}
"""The member of each ResourceManager that answered last: it is asked first."""


@dataclass(frozen=True, slots=True)
class Service:
    """What a ResourceManager says of itself."""

    state: str
    ha_state: str
    version: str
    is_proven: bool
    """Whether it asked for a proof of the name, and took it."""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue that takes applications, and whether YARN may take their containers away again."""

    path: str
    yields_to_queues: bool
    yields_within: bool
    """To applications in the same queue."""


@dataclass(frozen=True, slots=True)
class Proof:
    """As whom the portal comes where a web service asks for it."""

    kerberos: Kerberos
    principal: str
    """Of the web service; empty: the usual one, `HTTP/_HOST` of the portal's realm."""

    def for_host(self, host: str) -> Negotiate:
        """Return what proves the portal's name to the web service of a host."""
        realm = self.kerberos.principal.rpartition("@")[2]
        service = self.principal or f"HTTP/_HOST@{realm}"
        return Negotiate(self.kerberos, service.replace("_HOST", host.lower()))


class ResourceManager:
    """The web service of one YARN: that of the member which leads."""

    name: ClassVar[str] = "YARN"

    def __init__(
        self, addresses: tuple[str, ...], *, user: str | None, proof: Proof | None = None
    ) -> None:
        self._addresses = addresses
        self._proof = proof
        self.user = user

    @classmethod
    def of(cls, config: LakeConfig) -> Self:
        """Return the one of a lake.

        Raises:
            ExternalFailure: `yarn.address`, the lake's hadoop_conf does not say where it is.
        """
        found = tuple(_addresses(config.hadoop_conf))
        if not found:
            raise ExternalFailure(
                "yarn.address",
                "The lake's hadoop_conf does not say where YARN's web service is. Add "
                f"{_WEB}address, or {_WEB}https.address with yarn.http.policy.",
                service="yarn",
                retryable=False,
            )
        kerberos = config.kerberos
        principal = config.hadoop_conf.get(f"{_WEB}spnego-principal", "")
        # Its web service takes this name for granted where it asks for no proof.
        user = config.hadoop_user or (kerberos.user if kerberos else None)
        return cls(found, user=user, proof=Proof(kerberos, principal) if kerberos else None)

    def service(self) -> Service:
        """Return what the leading ResourceManager says of itself."""
        answer = self._ask("GET", "info")
        told = answer.json().get("clusterInfo") or {}
        return Service(
            state=str(told.get("state", "")),
            ha_state=str(told.get("haState", "")),
            version=str(told.get("resourceManagerVersion", "")),
            is_proven="Authorization" in answer.request.headers,
        )

    def queues(self) -> list[Queue] | None:
        """Return the queues of its CapacityScheduler; None: another scheduler, which does not say.

        Where YARN takes nothing away from anybody, it says so of each queue.
        """
        told = self._ask("GET", "scheduler").json()
        root = (told.get("scheduler") or {}).get("schedulerInfo") or {}
        return list(_queues_below(root, "root")) if root.get("type") == _CAPACITY else None

    def tagged(self, tag: str) -> list[Application]:
        """Return the applications that were submitted with a tag, the newest last."""
        told = self._ask("GET", "apps", query={"applicationTags": tag.lower()}).json()
        rows = (told.get("apps") or {}).get("app") or []
        return [_application(row) for row in sorted(rows, key=lambda row: str(row["id"]))]

    def kill(self, application: str) -> None:
        """Ask YARN to end an application; one that has ended is no error."""
        self._ask("PUT", f"apps/{application}/state", body={"state": "KILLED"})

    def driver_log(self, application: Application, name: str, *, n_bytes: int) -> bytes:
        """Return the end of a file that the driver wrote; empty where its node has it no more."""
        found = _LOGS.fullmatch(application.logs)
        if found is None:
            return b""
        url = f"{found['node']}/ws/v1/node/containerlogs/{found['container']}/{name}"
        try:
            answer = self._request("GET", url, {"size": str(-n_bytes)})
        except (requests.RequestException, ExternalFailure):
            return b""
        return answer.content[-n_bytes:] if answer.ok and not answer.is_redirect else b""

    def _ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Return the leader's answer, which is a JSON object."""
        reasons = []
        statuses, is_distrusted, unproven = set(), False, None
        last = _leaders.get(self._addresses)
        for address in sorted(self._addresses, key=lambda one: one != last):
            try:
                answer = self._request(method, f"{address}/ws/v1/cluster/{path}", query, body)
                if answer.status_code in (200, 202) and not _is_standby(answer):
                    dict(answer.json())  # else something other than YARN has answered
                    _leaders[self._addresses] = address
                    return answer
            except (requests.RequestException, ValueError) as error:
                distrust = _DISTRUST.search(str(error))
                is_distrusted |= distrust is not None
                reason = distrust["reason"] if distrust else type(error).__name__
                reasons.append(f"{address}: {reason}")
                continue
            except ExternalFailure as error:  # no ticket for this member: another may lead
                unproven = error
                reasons.append(f"{address}: {error.message}")
                continue
            reasons.append(f"{address}: {_said(answer)}")
            statuses.add(answer.status_code)
        if _UNAUTHORIZED in statuses:
            raise self._wants_proof("; ".join(reasons))
        if unproven is not None:
            raise unproven
        if _FORBIDDEN in statuses:
            raise self._refused("; ".join(reasons))
        if is_distrusted:
            raise _distrusted(reasons)
        raise ExternalFailure(
            "yarn.unreachable",
            f"YARN's ResourceManager gives no answer ({'; '.join(reasons)}). The state of the "
            "application is not known; it is asked again.",
            service="yarn",
            retryable=True,
        )

    def _wants_proof(self, reasons: str) -> ExternalFailure:
        return ExternalFailure(
            "yarn.wants_proof",
            f"YARN's web service asks for Kerberos (SPNEGO): {reasons}. "
            + (
                f"It refused {self._proof.kerberos.principal}. Compare {_WEB}spnego-principal "
                "of hadoop_conf and its keytab with the KDC; its log has the reason."
                if self._proof
                else "Give the lake a principal and a keytab (kerberos in lakes.json)."
            ),
            service="yarn",
            retryable=False,
        )

    def _refused(self, reasons: str) -> ExternalFailure:
        return ExternalFailure(
            "yarn.refused",
            f"YARN refuses the user {self.user or 'of this process'}: {reasons}. Let this user see "
            "and end applications (yarn.admin.acl, or the queue's acl_administer_applications), or "
            "correct hadoop_user or kerberos of the lake. The run stays as it is meanwhile.",
            service="yarn",
            retryable=True,
        )

    def _request(
        self,
        method: str,
        url: str,
        query: Mapping[str, str] | None,
        body: Mapping[str, str] | None = None,
    ) -> requests.Response:
        """Ask with the name alone, and with a proof of it where that is wanted."""
        with WebSession() as session:
            ask = partial(
                session.ask,
                method,
                url,
                params={**(query or {}), **({"user.name": self.user} if self.user else {})},
                json=body,
                verify=HOST_AUTHORITIES,
            )
            answer = ask()
            if answer.status_code == _UNAUTHORIZED and self._proof is not None:
                answer = ask(auth=self._proof.for_host(urlsplit(url).hostname or ""))
            return answer


def _is_standby(answer: requests.Response) -> bool:
    """Whether a member says that it does not lead: it redirects, or none leads and it waits.

    What is asked of the member itself it answers, and says there what it is.
    """
    if answer.is_redirect or "Refresh" in answer.headers:
        return True
    try:
        told = answer.json()
    except ValueError:
        return False
    info = told.get("clusterInfo") if isinstance(told, dict) else None
    return isinstance(info, dict) and info.get("haState") == "STANDBY"


def _said(answer: requests.Response) -> str:
    """Return in words what a member answered, of a refusal with its own."""
    if _is_standby(answer):
        return "a standby"
    try:
        words = str(answer.json()["RemoteException"]["message"]).partition("\n")[0].rstrip(". ")
    except (ValueError, KeyError, TypeError):
        return f"HTTP {answer.status_code}"
    return f"{words} (HTTP {answer.status_code})"


def _distrusted(reasons: Sequence[str]) -> ExternalFailure:
    return ExternalFailure(
        "yarn.certificate",
        f"The certificate of YARN's web service is not trusted ({'; '.join(reasons)}). Add the "
        "certificate of its signer to the authorities of every host of the portal, or name the "
        f"host that it was made for in {_WEB}https.address. The state of the application is not "
        "known; it is asked again.",
        service="yarn",
        # A certificate that ended is renewed while drivers run, and they are not given up.
        retryable=True,
    )


def _addresses(properties: Mapping[str, str]) -> Iterator[str]:
    is_secure = properties.get("yarn.http.policy", "").upper() == "HTTPS_ONLY"
    scheme, name = ("https", f"{_WEB}https.address") if is_secure else ("http", f"{_WEB}address")
    members = properties.get(f"{_MANAGER}ha.rm-ids", "").split(",")
    for suffix in [f".{one.strip()}" for one in members if one.strip()] or [""]:
        if address := properties.get(f"{name}{suffix}"):
            yield f"{scheme}://{address}"
        elif host := properties.get(f"{_MANAGER}hostname{suffix}"):
            yield f"{scheme}://{host}:{_PORTS[scheme]}"


def _queues_below(row: Mapping[str, Any], path: str) -> Iterator[Queue]:
    """Yield the queues of a part of the tree that take applications; only these have the words."""
    if "preemptionDisabled" in row:
        yield Queue(
            path=path,
            yields_to_queues=not row["preemptionDisabled"],
            yields_within=not row.get("intraQueuePreemptionDisabled", True),
        )
    for below in (row.get("queues") or {}).get("queue") or []:
        # Old releases do not say the path.
        yield from _queues_below(below, f"{path}.{below['queueName']}")


def _application(row: Mapping[str, Any]) -> Application:
    state, logs = str(row.get("state", "")), str(row.get("amContainerLogs", ""))
    queue, diagnostics = str(row.get("queue", "")), str(row.get("diagnostics", "")).strip()
    # One whose driver starts up is accepted too, and has a container by then.
    is_waiting = state in _NOT_STARTED and not logs
    return Application(
        id=str(row["id"]),
        state=state,
        is_final=state in _FINAL,
        place=f"YARN's queue '{queue}'",
        queue=queue,
        diagnostics=diagnostics,
        waits_for=reason_of(diagnostics) if is_waiting else "",
        waited=timedelta(milliseconds=int(row.get("elapsedTime", 0))),
        logs=logs,
    )
