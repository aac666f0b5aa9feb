"""Posts JSON to programs: to an address of the allow-list of callbacks, signed, tried again later.

The signature is that of GitHub's webhooks: the body's HMAC-SHA256 by a secret that both sides know.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings

from portal.lake.errors import ExternalFailure, PortalError
from portal.notices.webhook import Resolver, Target, json_post, resolve, webhook_target
from portal.servers.secret_files import secret_or_file

MOST_TRIES = 8
_FIRST_PAUSE = timedelta(seconds=10)


def callback_target(url: str, *, name: str) -> Target:
    """Read the address of a callback; `name` says whose it is.

    Raises:
        RuleViolation: it is not allowed, and which setting says so.
    """
    return webhook_target(
        url,
        hosts=settings.LAKEWARDEN_CALLBACK_HOSTS,
        allow_plain=settings.LAKEWARDEN_WEBHOOK_PLAIN,
        name=name,
        hosts_setting="LAKEWARDEN_CALLBACK_HOSTS",
    )


def callback_post(target: Target, body: dict[str, Any], *, resolver: Resolver = resolve) -> None:
    """Send a body, signed where the settings have a secret.

    Raises:
        RuleViolation: its name leads to an address that is not allowed.
        ExternalFailure: as of `webhook_post`, or the file of the secret cannot be read.
    """
    secret = secret_or_file(
        settings.LAKEWARDEN_CALLBACK_SECRET,
        settings.LAKEWARDEN_CALLBACK_SECRET_FILE,
        setting="LAKEWARDEN_CALLBACK_SECRET_FILE",
    )
    json_post(target, body, secret=secret, resolver=resolver)


def callback_again(error: PortalError, *, n_tries: int, now: datetime) -> datetime | None:
    """Return when a callback that failed `n_tries` times is sent again; None: it is given up."""
    may_help = isinstance(error, ExternalFailure) and error.retryable
    return now + _FIRST_PAUSE * 2**n_tries if may_help and n_tries < MOST_TRIES else None
