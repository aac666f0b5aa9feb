"""Posts a message to the team's chat, or to an address that somebody gave for an answer.

Its host stands on an allow-list of the settings. The name is resolved once, every address it has is
checked, and the connection goes to the one that was checked: a name that changes its address in
between changes nothing. Redirects are not followed. The address is a secret, so it
stands in no error and no row.
"""

import hashlib
import hmac
import http.client
import json
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from portal.lake.errors import ExternalFailure, RuleViolation
from portal.servers.secret_files import secret_or_file

TIMEOUT_SECONDS = 5.0
_TRY_LATER = frozenset({408, 425, 429})
_NAT64 = ip_network("64:ff9b::/96")
Address = IPv4Address | IPv6Address
Resolver = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Target:
    """Where a line goes, taken apart; `path` holds the secret."""

    is_plain: bool
    host: str
    port: int
    path: str

    @property
    def name(self) -> str:
        """The host as its server knows it, with a port that is not the usual one."""
        usual = 80 if self.is_plain else 443
        return self.host if self.port == usual else f"{self.host}:{self.port}"


def webhook_target(
    url: str,
    *,
    hosts: Sequence[str],
    allow_plain: bool,
    name: str = "LAKEWARDEN_WEBHOOK_URL",
    hosts_setting: str = "LAKEWARDEN_WEBHOOK_HOSTS",
) -> Target:
    """Read the address; `name` says whose it is.

    Raises:
        RuleViolation: `webhook.scheme`, `webhook.address` or `webhook.host`, saying which setting.
    """
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError:
        host, port = "", None
    if not host or any(ord(sign) <= 0x20 or ord(sign) >= 0x7F for sign in url):
        raise RuleViolation("webhook.address", f"{name} is no address of a webhook.")
    if parts.username is not None or parts.password is not None:
        raise RuleViolation("webhook.address", f"{name} must not carry a user.")
    if parts.scheme != "https" and not (parts.scheme == "http" and allow_plain):
        raise RuleViolation(
            "webhook.scheme",
            f"{name} must be https (LAKEWARDEN_WEBHOOK_PLAIN=1 allows http).",
        )
    is_plain = parts.scheme == "http"
    usual = 80 if is_plain else 443
    port = port or usual
    named = {host, f"{host}:{port}"} if port == usual else {f"{host}:{port}"}
    if not named & {entry.strip().lower() for entry in hosts}:
        raise RuleViolation("webhook.host", f"{host}:{port} is not in {hosts_setting}.")
    path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
    return Target(is_plain, host, port, path)


def is_allowed_address(text: str, *, networks: Sequence[str]) -> bool:
    """Whether a resolved address is a public one, or lies in a network that is allowed."""
    address: Address = ip_address(text)
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped:
            address = address.ipv4_mapped
        elif address.sixtofour or address.teredo or address in _NAT64:
            return False  # another address is wrapped in it
    nets = [ip_network(entry) for entry in networks]
    if any(address.version == net.version and address in net for net in nets):
        return True
    return address.is_global and not address.is_multicast


def resolve(host: str, port: int) -> list[str]:
    """Return every address of a name."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]).partition("%")[0] for entry in found]


def has_webhook() -> bool:
    """Whether the settings name a chat."""
    return bool(settings.LAKEWARDEN_WEBHOOK_URL or settings.LAKEWARDEN_WEBHOOK_URL_FILE)


def webhook_post(body: dict[str, Any], *, resolver: Resolver = resolve) -> None:
    """Send one message to the chat that the settings name.

    Raises:
        RuleViolation: the settings do not allow it.
        ExternalFailure: `webhook.refused`, `webhook.silent` (nothing was sent) or `webhook.lost`
            (the answer was), or the file of the address cannot be read; `retryable` says whether
            later helps.
    """
    url = secret_or_file(
        settings.LAKEWARDEN_WEBHOOK_URL,
        settings.LAKEWARDEN_WEBHOOK_URL_FILE,
        setting="LAKEWARDEN_WEBHOOK_URL_FILE",
    )
    target = webhook_target(
        url,
        hosts=settings.LAKEWARDEN_WEBHOOK_HOSTS,
        allow_plain=settings.LAKEWARDEN_WEBHOOK_PLAIN,
    )
    json_post(target, body, resolver=resolver)


def json_post(
    target: Target, body: dict[str, Any], *, secret: str = "", resolver: Resolver = resolve
) -> None:
    """Send a JSON body to an address that `webhook_target` allowed, signed if there is a secret.

    Raises:
        RuleViolation: its name leads to an address that is not allowed.
        ExternalFailure: as of `webhook_post`.
    """
    connection: http.client.HTTPConnection | None = None
    code = "silent"
    try:
        connection = _connect(target, _checked_address(target, resolver))
        headers = {"Content-Type": "application/json", "Host": target.name}
        content = json.dumps(body).encode()
        if secret:
            mac = hmac.new(secret.encode(), content, hashlib.sha256).hexdigest()
            headers["X-Lakewarden-Signature-256"] = f"sha256={mac}"
        connection.request("POST", target.path, content, headers)
        code = "lost"  # it may have been shown, whatever happens to the answer
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException) as error:
        reason = type(error).__name__ if not isinstance(error, OSError) else str(error)
        raise _failure(code, f"{target.host} did not answer: {reason}", later=True) from error
    finally:
        if connection is not None:
            connection.close()
    if 300 <= status < 400:
        raise _failure("refused", f"{target.host} redirects ({status}); that is not followed.")
    if not 200 <= status < 300:
        later = status >= 500 or status in _TRY_LATER
        raise _failure("refused", f"{target.host} answered {status}.", later=later)


def _checked_address(target: Target, resolver: Resolver) -> str:
    """Return an address of the host; one bad address among them is enough to refuse."""
    addresses = list(resolver(target.host, target.port))
    for address in addresses:
        if not is_allowed_address(address, networks=settings.LAKEWARDEN_WEBHOOK_NETWORKS):
            raise RuleViolation(
                "webhook.network",
                f"{target.host} leads to {address}, which is not public; an inner chat server's "
                "network must be in LAKEWARDEN_WEBHOOK_NETWORKS.",
            )
    if not addresses:
        raise OSError("the name has no address")
    return addresses[0]


def _connect(target: Target, address: str) -> http.client.HTTPConnection:
    """Connect to the checked address; the certificate must be the name's."""
    line = socket.create_connection((address, target.port), timeout=TIMEOUT_SECONDS)
    if not target.is_plain:
        try:
            line = ssl.create_default_context().wrap_socket(line, server_hostname=target.host)
        except OSError:
            line.close()
            raise
    connection = http.client.HTTPConnection(target.host, target.port, timeout=TIMEOUT_SECONDS)
    connection.sock = line
    return connection


def _failure(code: str, message: str, *, later: bool = False) -> ExternalFailure:
    return ExternalFailure(f"webhook.{code}", message, service="webhook", retryable=later)
