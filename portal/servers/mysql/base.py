"""Connects to MariaDB: passwords come from their file, and errors of TLS name the next step."""

from typing import Any

from django.db.backends.mysql import base
from pymysql.err import OperationalError

from portal.lake.errors import ExternalFailure
from portal.servers.secret_files import read_secrets
from portal.servers.tls_errors import tls_problem

_ACCESS_DENIED, _UNKNOWN_ERROR = 1045, 2000
_FILE = "password_file"


class DatabaseWrapper(base.DatabaseWrapper):
    """The MySQL backend; `OPTIONS["password_file"]` is read at each new connection."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """Connect with the first password of the file that the server takes.

        While a password is changed the file has the new one and the old one, so no moment is
        without a valid one.
        """
        params = {name: value for name, value in conn_params.items() if name != _FILE}
        passwords = _passwords(conn_params)
        for number, password in enumerate(passwords, start=1):
            if password is not None:
                params["password"] = password
            try:
                return super().get_new_connection(params)
            except OperationalError as error:
                is_denied = error.args[:1] == (_ACCESS_DENIED,)
                if is_denied and number < len(passwords):
                    continue
                raise _explained(error, params) from error
        raise AssertionError("a file of passwords has at least one")


def _passwords(params: dict[str, Any]) -> list[str] | list[None]:
    """Return the passwords to try; None stands for the one that is in the parameters, if any."""
    file = params.get(_FILE)
    if not file:
        return [None]
    try:
        return read_secrets(str(file), setting="LAKEWARDEN_DB_PASSWORD_FILE")
    except ExternalFailure as error:
        raise OperationalError(_UNKNOWN_ERROR, error.message) from error


def _explained(error: Exception, params: dict[str, Any]) -> Exception:
    problem = tls_problem(error, prefix="LAKEWARDEN_DB")
    if problem is None:
        return error
    server = f"MariaDB at {params.get('host', 'localhost')}:{params.get('port', 3306)}"
    words: Exception = OperationalError(error.args[0], problem.of(server))
    return words
