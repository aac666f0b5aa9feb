"""Says in plain words why a TLS connection to a server failed, and what to do next."""

import ssl
from collections.abc import Iterator
from dataclasses import dataclass

_EXPIRED, _NOT_YET = 10, 9
_WRONG_NAME = frozenset({62, 64})  # of a host, of an address
_UNKNOWN_ISSUER = frozenset({2, 18, 19, 20, 21})
_PLAIN = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE", "UNEXPECTED_EOF", "PACKET_LENGTH")
_CLIENT_CERTIFICATE = ("CERTIFICATE_REQUIRED", "HANDSHAKE_FAILURE", "UNKNOWN_CA", "BAD_CERTIFICATE")


@dataclass(frozen=True, slots=True)
class TlsProblem:
    """What is wrong, without the server's address, and the next step."""

    reason: str
    next_step: str

    def of(self, server: str) -> str:
        """Return the whole message for a server."""
        return f"{server}: {self.reason} {self.next_step}"


def tls_problem(error: BaseException, *, prefix: str) -> TlsProblem | None:
    """Return what an error says of TLS; None where TLS is not the cause.

    The settings are named with their prefix, such as LAKEWARDEN_DB.
    """
    for one in _causes(error):
        if isinstance(one, ssl.SSLCertVerificationError):
            return _of_certificate(one, prefix)
        if isinstance(one, ssl.SSLError):
            return _of_handshake(one, prefix)
        if "SSL is required but the server doesn't support it" in str(one):
            return _plain(prefix)
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        # PyMySQL keeps the cause in an attribute of its own.
        waiting += [getattr(one, "original_exception", None), one.__cause__, one.__context__]


def _of_certificate(error: ssl.SSLCertVerificationError, prefix: str) -> TlsProblem:
    if error.verify_code == _EXPIRED:
        return TlsProblem(
            "its certificate has expired.", "Renew the server's certificate; check both clocks."
        )
    if error.verify_code == _NOT_YET:
        return TlsProblem("its certificate is not valid yet.", "Check the clocks of both hosts.")
    if error.verify_code in _WRONG_NAME:
        return TlsProblem(
            "its certificate is for another host name.",
            f"Use a name of the certificate in {prefix}_URL, or issue one with this name.",
        )
    if error.verify_code in _UNKNOWN_ISSUER:
        return TlsProblem(
            "its certificate was signed by an authority that is not trusted.",
            f"Name the certificate of that authority in {prefix}_CA.",
        )
    return TlsProblem(
        f"its certificate is refused ({error.verify_message}).",
        f"Compare it with the authority in {prefix}_CA.",
    )


def _of_handshake(error: ssl.SSLError, prefix: str) -> TlsProblem:
    code = (error.reason or "").upper()
    if any(word in code for word in _CLIENT_CERTIFICATE):
        return TlsProblem(
            "it refuses the TLS handshake; it may ask for a client certificate that it trusts.",
            f"Name one in {prefix}_CERT and its key in {prefix}_KEY.",
        )
    if any(word in code for word in _PLAIN):
        return _plain(prefix)
    return TlsProblem(f"the TLS handshake failed ({code or error}).", "The server's log says more.")


def _plain(prefix: str) -> TlsProblem:
    return TlsProblem(
        "it speaks no TLS at this port, and the settings require it.",
        f"Turn TLS on at the server, or correct the port in {prefix}_URL.",
    )
