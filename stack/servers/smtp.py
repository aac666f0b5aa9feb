"""A mail server that delivers to a folder: every message becomes an .eml file."""

import asyncio
import sys
import time
from collections.abc import Sequence
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from stack.ledger import Ledger
from stack.process import LOOPBACK
from stack.servers.base import Server


class Smtp(Server):
    """The SMTP sink as a process, and the mailbox that it fills."""

    name = "smtp"
    ready_seconds = 20.0

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self.mail = var / "mail"

    @property
    def address(self) -> str:
        """The host:port that the portal sends to."""
        return f"{LOOPBACK}:{self.port}"

    def command(self) -> Sequence[str]:
        """Return the argv of the sink."""
        return [
            sys.executable,
            "-m",
            "stack.servers.smtp",
            str(self.port),
            str(self.mail),
        ]

    def environment(self) -> dict[str, str]:
        """Let the module be found from any working directory."""
        root = str(Path(__file__).resolve().parents[2])
        return {**self.ledger.environment(), "PYTHONPATH": root}

    def messages(self, *, to: str | None = None) -> list[EmailMessage]:
        """Return the delivered messages, oldest first; `to` picks one recipient's."""
        return messages(self.mail, to=to)


def messages(mail: Path, *, to: str | None = None) -> list[EmailMessage]:
    """Read a folder of .eml files, oldest first."""
    found = []
    for path in sorted(mail.glob("*.eml")):
        message = message_from_bytes(path.read_bytes(), policy=policy.default)
        if to is None or to in str(message["X-Envelope-To"]):
            found.append(message)
    return found


class _Sink:
    """aiosmtpd's handler: keeps each message whole."""

    def __init__(self, mail: Path) -> None:
        self.mail = mail
        self.n_kept = 0

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        self.n_kept += 1
        content = envelope.content if isinstance(envelope.content, bytes) else b""
        head = f"X-Envelope-To: {', '.join(envelope.rcpt_tos)}\r\n".encode()
        target = self.mail / f"{time.time_ns():020d}-{self.n_kept:06d}.eml"
        fresh = target.with_suffix(".tmp")
        fresh.write_bytes(head + content)
        fresh.rename(target)
        return "250 Kept"


def main() -> None:
    """Serve until killed."""
    port, mail = int(sys.argv[1]), Path(sys.argv[2])
    mail.mkdir(parents=True, exist_ok=True)
    controller = Controller(_Sink(mail), hostname=LOOPBACK, port=port)
    controller.start()
    asyncio.new_event_loop().run_forever()


if __name__ == "__main__":
    main()
