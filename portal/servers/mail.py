"""Sends mail by SMTP; the password file is read at each new connection."""

from typing import Any

from django.conf import settings
from django.core.mail.backends.smtp import EmailBackend

from portal.servers.secret_files import read_secret


class PasswordFileBackend(EmailBackend):
    """Django's SMTP backend with the password of LAKEWARDEN_SMTP_PASSWORD_FILE, if there is one."""

    def open(self) -> Any:
        """Connect, with the password that the file has now.

        Raises:
            ExternalFailure: the file cannot be read; the mail is tried again later.
        """
        file = settings.LAKEWARDEN_SMTP_PASSWORD_FILE
        if file and self.connection is None:
            self.password = read_secret(file, setting="LAKEWARDEN_SMTP_PASSWORD_FILE")
        return super().open()
