"""Which headers are handed on: all but those that belong to one connection."""

from collections.abc import Iterable, Iterator

_OF_ONE_CONNECTION = frozenset(
    {
        *("connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "te"),
        *("trailer", "trailers", "transfer-encoding", "upgrade", "content-length", "host"),
    }
)
# Trino would name the proxy in its answer's addresses; the client must go on with Trino itself.
_OF_THE_WAY = frozenset(
    {"forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-port", "x-forwarded-proto"}
)
_NOT_ASKED = frozenset({"expect"})

Header = tuple[str, str]
_LONGEST_VALUE = 1_000


def to_trino(headers: Iterable[Header]) -> Iterator[Header]:
    """Return what Trino gets of a client's headers."""
    return _kept(headers, _OF_ONE_CONNECTION | _OF_THE_WAY | _NOT_ASKED)


def to_client(headers: Iterable[Header]) -> Iterator[Header]:
    """Return what the client gets of Trino's headers."""
    return _kept(headers, _OF_ONE_CONNECTION - {"content-length"})


def as_value(text: str) -> str:
    """Return a text as the value of a header can have it: one line of ASCII, not too long."""
    line = " ".join(text.split()).encode("ascii", "replace").decode()
    printable = "".join(one if one.isprintable() else "?" for one in line)
    return printable if len(printable) <= _LONGEST_VALUE else f"{printable[:_LONGEST_VALUE]}..."


def _kept(headers: Iterable[Header], left_out: frozenset[str]) -> Iterator[Header]:
    given = list(headers)
    named = {
        word.strip().lower()
        for name, value in given
        if name.lower() == "connection"
        for word in value.split(",")
    }
    for name, value in given:
        if name.lower() not in left_out | named:
            yield name, value
