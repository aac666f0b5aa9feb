"""A mail server on loopback that takes, refuses or breaks off, as a test wants."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from stack.process import free_port


class Mailbox:
    """aiosmtpd's handler: keeps messages, refuses the addresses it is told to."""

    def __init__(self) -> None:
        self.kept: list[EmailMessage] = []
        self.refuse: dict[str, str] = {}
        self.answer = "250 Kept"
        self.breaks_off = False
        self.breaks_off_once = False
        self._lock = threading.Lock()

    async def handle_RCPT(
        self, server: Any, session: Any, envelope: Any, address: str, options: list[str]
    ) -> str:
        if address in self.refuse:
            return self.refuse[address]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        with self._lock:
            if self.answer.startswith("250"):
                self.kept.append(message_from_bytes(envelope.content, policy=policy.default))
            if self.breaks_off or self.breaks_off_once:
                self.breaks_off_once = False
                server.transport.abort()
            return self.answer

    def to(self, address: str) -> list[EmailMessage]:
        """Return what was kept for an address."""
        return [message for message in self.kept if address in str(message["To"])]


@contextmanager
def mail_server() -> Iterator[tuple[Mailbox, str, int]]:
    """Serve a mailbox on a free port; gives it with host and port."""
    box = Mailbox()
    port = free_port()
    controller = Controller(box, hostname="127.0.0.1", port=port)
    controller.start()
    try:
        yield box, "127.0.0.1", port
    finally:
        controller.stop()
