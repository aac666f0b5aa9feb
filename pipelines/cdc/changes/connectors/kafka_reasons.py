"""Finds out why brokers cannot be used: kafka-python only says that it could not begin.

It connects as a client does, step by step: the network, TLS, the log-in. What a broker says before
it closes the connection is kept, which the client may lose.
"""

import socket
import ssl
import struct
from collections.abc import Iterator

from kafka.net.sasl import get_sasl_mechanism

from pipelines.cdc.changes.domain.kafka_place import KafkaPlace
from portal.lake.errors import ExternalFailure

_SECONDS = 5.0
_MOST_SERVERS = 3
_MOST_ANSWER = 1 << 20
_CLIENT = b"lakewarden"
_HANDSHAKE, _AUTHENTICATE, _METADATA = (17, 1), (36, 0), (3, 0)
_UNKNOWN_MECHANISM = 33
_AGAIN = (
    "on the hosts of site, workers and manage.py cdc_capture, and cancel the run that applies "
    "changes: the next one has it."
)


def reason_of(place: KafkaPlace, *, password: str) -> ExternalFailure | None:
    """Return why the first brokers of a place cannot be used; None where one of them can.

    `cdc.kafka_tls` and `cdc.kafka_login` are for a person to correct, `cdc.kafka` may pass.
    """
    failure = None
    for server in place.servers.split(",")[:_MOST_SERVERS]:
        failure = _reason(place, server.strip(), password)
        if failure is None:
            return None
        if not failure.retryable:
            break
    return failure


def _reason(place: KafkaPlace, server: str, password: str) -> ExternalFailure | None:
    host, _, port = server.rpartition(":")
    host = host.strip("[]")
    try:
        with socket.create_connection((host, int(port)), timeout=_SECONDS) as plain:
            if not place.ssl_ca:
                return _spoken(plain, place, server, password)
            trusted = _trusted(place, server)
            if isinstance(trusted, ExternalFailure):
                return trusted
            try:
                secure = trusted.wrap_socket(plain, server_hostname=host)
            except ssl.SSLCertVerificationError as error:
                return _unsigned(place, server, error)
            except ssl.SSLError as error:
                return _no_tls(server, error)
            with secure:
                return _spoken(secure, place, server, password)
    except (OSError, struct.error) as error:
        return _away(
            f"Kafka at {server} does not answer: {error}. Is it running, and does this host reach "
            "it? If it has moved, correct the bootstrap servers of the pipeline."
        )


def _trusted(place: KafkaPlace, server: str) -> ssl.SSLContext | ExternalFailure:
    try:
        return ssl.create_default_context(cafile=place.ssl_ca)
    except OSError as error:
        return _tls(
            f"The certificate of the signer of Kafka at {server} cannot be read: {place.ssl_ca}: "
            f"{error.strerror or error}. Put it there as a PEM file, on every host of the portal, "
            "or correct its path on the pipeline."
        )


def _unsigned(
    place: KafkaPlace, server: str, error: ssl.SSLCertVerificationError
) -> ExternalFailure:
    return _tls(
        f"Kafka at {server} shows a certificate that is not accepted: {error.verify_message}. Is "
        f"{place.ssl_ca} the certificate of its signer, and does the broker's certificate name "
        "this address? Correct the file, or the path or the bootstrap servers of the pipeline."
    )


def _no_tls(server: str, error: ssl.SSLError) -> ExternalFailure:
    return _tls(
        f"Kafka at {server} does not speak TLS: {error.reason or error}. Name its port for TLS "
        "among the bootstrap servers of the pipeline, or leave the certificate of its signer empty."
    )


def _spoken(
    link: socket.socket, place: KafkaPlace, server: str, password: str
) -> ExternalFailure | None:
    if place.user:
        return _log_in(link, place, server, password)
    answer = _asked(link, *_METADATA, struct.pack(">i", 0))
    return _silent(place, server) if answer is None else None


def _log_in(
    link: socket.socket, place: KafkaPlace, server: str, password: str
) -> ExternalFailure | None:
    mechanism = place.mechanism.encode()
    answer = _asked(link, *_HANDSHAKE, struct.pack(">h", len(mechanism)) + mechanism)
    if answer is None:
        return _silent(place, server)
    (code,) = struct.unpack_from(">h", answer)
    if code == _UNKNOWN_MECHANISM:
        has = ", ".join(_texts(answer[2:])) or "none"
        return _login(
            f"Kafka at {server} does not take a log-in by {place.mechanism}; it takes {has}. "
            "Choose one of them as the mechanism of the pipeline's log-in."
        )
    client = get_sasl_mechanism(place.mechanism)(
        host=server.rpartition(":")[0],
        sasl_mechanism=place.mechanism,
        sasl_plain_username=place.user,
        sasl_plain_password=password,
    )
    while not client.is_done():
        said = client.auth_bytes()
        answer = _asked(link, *_AUTHENTICATE, struct.pack(">i", len(said)) + said)
        if answer is None:
            return _silent(place, server)
        code, words, data = _told(answer)
        if code:
            return _refused(place, server, words)
        try:
            client.receive(data)
        except (KeyError, ValueError) as error:
            return _refused(place, server, str(error))
    return None


def _silent(place: KafkaPlace, server: str) -> ExternalFailure:
    missing = [*([] if place.ssl_ca else ["TLS"]), *([] if place.user else ["a log-in"])]
    wanted = f", or wants {' or '.join(missing)}" if missing else ""
    return _away(
        f"Kafka at {server} closed the connection without an answer: it starts or stops{wanted}. "
        "It is tried again. If it stays so, look at the pipeline's bootstrap servers, the "
        "certificate of their signer and the user, and at the log of the broker."
    )


def _refused(place: KafkaPlace, server: str, words: str) -> ExternalFailure:
    return _login(
        f"Kafka at {server} refused the log-in of {place.user!r} by {place.mechanism}: "
        f"{words.rstrip('.')}. Correct the user or the mechanism of the pipeline, or the password "
        f"(the file {place.password_name} of LAKEWARDEN_CAPTURE_PASSWORD_DIR, or "
        f"{place.password_variable}) {_AGAIN}"
    )


def _asked(link: socket.socket, api: int, version: int, body: bytes) -> bytes | None:
    """Send a request and return what its answer holds; None where the broker closes instead."""
    head = struct.pack(">hhih", api, version, 1, len(_CLIENT)) + _CLIENT
    try:
        link.sendall(struct.pack(">i", len(head) + len(body)) + head + body)
        size = _read(link, 4)
        length = struct.unpack(">i", size)[0] if size else 0
        # Something that is no Kafka answers with anything.
        answer = _read(link, length) if 4 <= length <= _MOST_ANSWER else b""
    except (ConnectionError, ssl.SSLError):
        return None
    return answer[4:] or None


def _read(link: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        part = link.recv(length - len(data))
        if not part:
            return b""
        data += part
    return data


def _texts(data: bytes) -> Iterator[str]:
    (count,) = struct.unpack_from(">i", data)
    at = 4
    for _ in range(count):
        (length,) = struct.unpack_from(">h", data, at)
        yield data[at + 2 : at + 2 + length].decode(errors="replace")
        at += 2 + length


def _told(answer: bytes) -> tuple[int, str, bytes]:
    """Return the code, the words and the bytes of an answer to a step of the log-in."""
    code, length = struct.unpack_from(">hh", answer)
    words = answer[4 : 4 + max(length, 0)].decode(errors="replace")
    return code, words, answer[8 + max(length, 0) :]


def _away(message: str) -> ExternalFailure:
    return ExternalFailure("cdc.kafka", message, service="kafka", retryable=True)


def _login(message: str) -> ExternalFailure:
    return ExternalFailure("cdc.kafka_login", message, service="kafka", retryable=False)


def _tls(message: str) -> ExternalFailure:
    return ExternalFailure("cdc.kafka_tls", message, service="kafka", retryable=False)
