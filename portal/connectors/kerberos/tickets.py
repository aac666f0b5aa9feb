"""Takes tickets from the keytab, and says of each failure who, with whom, and what to do.

The library renews tickets from the keytab when half of their life is over, so a process that lives
longer than its tickets only has to ask before each connection.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

from portal.connectors.kerberos.gssapi import Credentials, GssError
from portal.connectors.kerberos.settings import Kerberos
from portal.lake.errors import ExternalFailure

_BASE = -1765328384
# Codes of krb5.h, by what an operator has to do.
_CLOCK = {_BASE + 37, _BASE + 147, _BASE + 33}
_KEY = {_BASE + 24, _BASE + 31, _BASE + 6, _BASE + 181, _BASE + 18}
_SERVICE = {_BASE + 7}
_EXPIRED = {_BASE + 32, _BASE + 1, _BASE + 23}
_UNREACHABLE = {_BASE + 156, _BASE + 154, _BASE + 220}
_NO_CREDENTIALS = 7 << 16
_LOGIN_WORDS = ("GSSAPIError", "SASLError", "NoSASLMechanism", "SaslException")
# How hdfs-native writes an error of GSSAPI.
_MINOR = re.compile(r'}, (?P<minor>\d+), "(?P<text>.*)"\)')
SERVICE_REFUSED = "kerberos.service_refused"
_STEPS = {
    "kerberos.clock": (
        "the clocks of this host and of the KDC differ by more than five minutes. "
        "Set both by NTP (chronyc tracking)"
    ),
    "kerberos.keytab": (
        "the key or the name is not the KDC's. Compare `klist -kt` of the keytab with the KDC "
        "(kvno), and export it again"
    ),
    "kerberos.service": (
        "the KDC knows no such service. Compare metastore_principal and thrift_host, or the "
        "service's name in hadoop_conf, with the service's keytab"
    ),
    "kerberos.expired": (
        "the ticket, the principal or its key has expired, so no new ticket can be had. Compare "
        "the dates and limits of the principal in the KDC (kadmin getprinc), and extend them"
    ),
    "kerberos.kdc_unreachable": (
        "no KDC answers. Check the realm's kdc lines in krb5.conf, and port 88 from this host"
    ),
    SERVICE_REFUSED: (
        "compare the service's keytab with the KDC (kvno), its clock with this host's, and see "
        "whether it has Kerberos on; its log has the reason"
    ),
    "kerberos.failed": "see docs/operations.md, A lake with Kerberos",
}
_RETRYABLE = frozenset({"kerberos.kdc_unreachable", "kerberos.expired"})


def seconds_left(kerberos: Kerberos, *, service: str = "") -> int:
    """Get a ticket, or keep the one there is; return how many seconds it is valid.

    `service` is for whom it is wanted, as a failure names it; empty: for the KDC's own.

    Raises:
        ExternalFailure: `kerberos.*`, none can be had.
    """
    with credentials(kerberos, service or kerberos.ticket_service) as found:
        return found.seconds


@contextmanager
def credentials(kerberos: Kerberos, service: str) -> Iterator[Credentials]:
    """Give tickets that were renewed if it was time; a failure names the service they are for.

    Raises:
        ExternalFailure: `kerberos.*`, none can be had.
    """
    kerberos.make_known()
    store = {"ccache": kerberos.cache, "client_keytab": f"FILE:{kerberos.keytab}"}
    try:
        found = Credentials(kerberos.principal, store)
    except GssError as error:
        raise failure(error, kerberos.principal, service) from error
    try:
        yield found
    finally:
        found.close()


def login(kerberos: Kerberos) -> dict[str, str]:
    """Return the arguments by which hdfs-native logs in, and gets new tickets in time.

    Raises:
        ExternalFailure: `kerberos.keytab_file`.
    """
    kerberos.make_known()
    return {
        "kerberos_principal": kerberos.principal,
        "kerberos_keytab": kerberos.keytab,
        "kerberos_cache": kerberos.cache,
    }


def is_login_failure(error: Exception) -> bool:
    """Whether an error of hdfs-native is of a log-in: it has no class for it."""
    return any(word in str(error) for word in _LOGIN_WORDS)


def login_failure(error: Exception, kerberos: Kerberos, service: str) -> ExternalFailure:
    """Return what to tell of a log-in of hdfs-native, which does not say whether it had a ticket.

    Without a ticket it is why none can be had.
    """
    try:
        seconds_left(kerberos, service=service)
    except ExternalFailure as found:
        return found
    if said := _MINOR.search(str(error)):
        known = GssError(0, int(said["minor"]), said["text"])
        return failure(known, kerberos.principal, service)
    return refused_by_service(kerberos, service, str(error))


def refused_by_service(kerberos: Kerberos, service: str, reason: str) -> ExternalFailure:
    """Return what to tell of a service that took our ticket and refused it."""
    return _told(SERVICE_REFUSED, kerberos.principal, service, reason)


def failure(error: GssError, principal: str, service: str) -> ExternalFailure:
    """Return what to tell of an error of the library."""
    return _told(code_of(error), principal, service, str(error))


def code_of(error: GssError) -> str:
    """Return the portal's code of an error of the library."""
    known = {
        "kerberos.clock": _CLOCK,
        "kerberos.keytab": _KEY,
        "kerberos.service": _SERVICE,
        "kerberos.expired": _EXPIRED,
        "kerberos.kdc_unreachable": _UNREACHABLE,
    }
    for code, minors in known.items():
        if error.minor in minors:
            return code
    return "kerberos.keytab" if error.major == _NO_CREDENTIALS else "kerberos.failed"


def _told(code: str, principal: str, service: str, reason: str) -> ExternalFailure:
    return ExternalFailure(
        code,
        f"Kerberos refused {principal} for {service}: {reason}. What to do: {_STEPS[code]}.",
        service="kerberos",
        retryable=code in _RETRYABLE,
        principal=principal,
        target=service,
    )
