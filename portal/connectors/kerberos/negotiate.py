"""Proves the portal's name to web services of a secured cluster (SPNEGO, RFC 4559)."""

from base64 import b64encode

from requests import PreparedRequest
from requests.auth import AuthBase

from portal.connectors.kerberos.gssapi import ClientContext, GssError
from portal.connectors.kerberos.settings import Kerberos
from portal.connectors.kerberos.tickets import credentials, failure


class Negotiate(AuthBase):
    """Sends a ticket for the web server along with a request.

    The server's own proof is not looked at: that it is the right one is said by TLS, or by nothing.
    """

    def __init__(self, kerberos: Kerberos, service: str) -> None:
        """Take the service's whole principal, `HTTP/host@REALM`."""
        self._kerberos = kerberos
        self._service = service

    def __call__(self, request: PreparedRequest) -> PreparedRequest:
        """Add the ticket to the request.

        Raises:
            ExternalFailure: `kerberos.*`, no ticket can be had.
        """
        with credentials(self._kerberos, self._service) as found:
            context = ClientContext(found, self._service)
            try:
                token = context.step(b"")
            except GssError as error:
                raise failure(error, self._kerberos.principal, self._service) from error
            finally:
                context.close()
        request.headers["Authorization"] = f"Negotiate {b64encode(token).decode()}"
        return request
