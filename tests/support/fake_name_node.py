"""A NameNode up to its log-in: it says which service it is, and takes nobody."""

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_PREAMBLE_BYTES = 7
_NEGOTIATE = 1


@contextmanager
def fake_name_node(
    service: str = "hdfs/localhost", *, method: str = "KERBEROS", answer: bytes = b""
) -> Iterator[int]:
    """Offer every client a log-in to `service`, or give another answer; gives the port."""
    said = answer or _offer(service, method)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self._take(_PREAMBLE_BYTES)
            self._take(int.from_bytes(self._take(4), "big"))
            self.request.sendall(said)
            self.request.recv(1)  # until the client has gone, or logs in

        def _take(self, size: int) -> bytes:
            data = b""
            while len(data) < size and (more := self.request.recv(size - len(data))):
                data += more
            return data

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def _offer(service: str, method: str) -> bytes:
    name, _, host = service.partition("/")
    auth = b"".join(
        _field(number, text.encode())
        for number, text in enumerate((method, "GSSAPI", name, host), start=1)
    )
    message = b"\x10" + bytes([_NEGOTIATE]) + _field(4, auth)
    header = b"\x08" + _varint(2**32 - 33) + b"\x10\x00"
    body = b"".join(_varint(len(part)) + part for part in (header, message))
    return len(body).to_bytes(4, "big") + body


def _field(number: int, data: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])
