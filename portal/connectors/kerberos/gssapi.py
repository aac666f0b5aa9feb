"""GSSAPI of MIT's library (libgssapi_krb5), as far as a client needs it.

hdfs-native loads the same library, so tickets in memory serve both. Bindings from the registries
must be compiled on each host; these few calls of RFC 2744 must not.
"""

import ctypes
from collections.abc import Mapping
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from functools import lru_cache
from typing import Any

LIBRARY = "libgssapi_krb5.so.2"
_KRB5 = bytes.fromhex("2a864886f712010202")
_PRINCIPAL_NAME = bytes.fromhex("2a864886f71201020201")
_INITIATE = 1
_MUTUAL, _REPLAY, _SEQUENCE, _CONFIDENTIAL, _INTEGRITY = 2, 4, 8, 16, 32
_FLAGS = _MUTUAL | _REPLAY | _SEQUENCE | _CONFIDENTIAL | _INTEGRITY
_CONTINUE = 1
_ERRORS = 0xFFFF0000
_BY_GSS, _BY_MECHANISM = 1, 2


class GssError(Exception):
    """What the library refused; `minor` is Kerberos' own code, as its headers have it."""

    def __init__(self, major: int, minor: int, text: str) -> None:
        super().__init__(text)
        self.major = major
        self.minor = ctypes.c_int32(minor).value


class _Buffer(Structure):
    _fields_ = (("length", c_size_t), ("value", c_void_p))


class _Oid(Structure):
    _fields_ = (("length", c_uint32), ("elements", c_void_p))


class _OidSet(Structure):
    _fields_ = (("count", c_size_t), ("elements", c_void_p))


class _Entry(Structure):
    _fields_ = (("key", c_char_p), ("value", c_char_p))


class _Store(Structure):
    _fields_ = (("count", c_uint32), ("elements", POINTER(_Entry)))


class Credentials:
    """Tickets of one principal; with a keytab the library gets new ones in time."""

    def __init__(self, principal: str, store: Mapping[str, str]) -> None:
        """Take the tickets of `principal` from a store, such as a cache and a client's keytab.

        Raises:
            GssError: there are none, and none can be had.
        """
        self.handle, seconds = c_void_p(), c_uint32()
        oid = _oid(_KRB5)
        mechanisms = _OidSet(1, ctypes.cast(byref(oid), c_void_p))
        entries = (_Entry * len(store))(
            *(_Entry(key.encode(), value.encode()) for key, value in store.items())
        )
        with _Name(principal) as name:
            _call(
                "gss_acquire_cred_from",
                name,
                c_uint32(0xFFFFFFFF),
                byref(mechanisms),
                c_int(_INITIATE),
                byref(_Store(len(store), entries)),
                byref(self.handle),
                None,
                byref(seconds),
            )
        self.seconds = seconds.value
        """How long the tickets are valid from now on."""

    def close(self) -> None:
        """Let go of the handle; the tickets stay in their cache."""
        _release("gss_release_cred", self.handle)


class ClientContext:
    """A conversation with one service, named by its principal."""

    def __init__(self, credentials: Credentials, service: str) -> None:
        self._credentials = credentials
        self._context = c_void_p()
        self._service = service
        self.is_complete = False

    def step(self, token: bytes) -> bytes:
        """Answer the service's token, at first an empty one.

        Raises:
            GssError: no ticket for the service, or its token is not for us.
        """
        answer, oid = _Buffer(), _oid(_KRB5)
        with _Name(self._service) as name:
            major = _call(
                "gss_init_sec_context",
                self._credentials.handle,
                byref(self._context),
                name,
                byref(oid),
                c_uint32(_FLAGS),
                c_uint32(0),
                None,
                byref(_buffer(token)) if token else None,
                None,
                byref(answer),
                None,
                None,
            )
        self.is_complete = not major & _CONTINUE
        return _taken(answer)

    def wrap(self, data: bytes, *, encrypt: bool) -> bytes:
        """Sign data, and encrypt them if that is wanted."""
        answer = _Buffer()
        _call(
            "gss_wrap",
            self._context,
            c_int(encrypt),
            c_uint32(0),
            byref(_buffer(data)),
            None,
            byref(answer),
        )
        return _taken(answer)

    def unwrap(self, data: bytes) -> bytes:
        """Check and decrypt what the service wrapped."""
        answer = _Buffer()
        _call("gss_unwrap", self._context, byref(_buffer(data)), byref(answer), None, None)
        return _taken(answer)

    def close(self) -> None:
        """End the conversation; twice is no error."""
        if self._context.value:
            library, minor = _library(), c_uint32()
            library.gss_delete_sec_context(byref(minor), byref(self._context), None)


class _Name:
    """A principal's name in the library's form, within a block."""

    def __init__(self, principal: str) -> None:
        self._principal = principal
        self._handle = c_void_p()

    def __enter__(self) -> c_void_p:
        oid = _oid(_PRINCIPAL_NAME)
        text = _buffer(self._principal.encode())
        _call("gss_import_name", byref(text), byref(oid), byref(self._handle))
        return self._handle

    def __exit__(self, *exc_info: object) -> None:
        _release("gss_release_name", self._handle)


@lru_cache(maxsize=1)
def _library() -> Any:
    library = ctypes.CDLL(LIBRARY)
    for name in (
        "gss_acquire_cred_from",
        "gss_import_name",
        "gss_init_sec_context",
        "gss_wrap",
        "gss_unwrap",
        "gss_display_status",
    ):
        getattr(library, name).restype = c_uint32
    return library


def _call(name: str, *arguments: Any) -> int:
    minor = c_uint32()
    try:
        major = int(getattr(_library(), name)(byref(minor), *arguments))
    except OSError as error:
        raise GssError(0, 0, f"{LIBRARY} is not installed ({error})") from error
    if major & _ERRORS:
        kinds = ((major, _BY_GSS), (minor.value, _BY_MECHANISM))
        said = [_said(status, kind) for status, kind in kinds]
        raise GssError(major, minor.value, ": ".join(text for text in said if text))
    return major


def _said(status: int, kind: int) -> str:
    text, more, minor, oid = _Buffer(), c_uint32(), c_uint32(), _oid(_KRB5)
    _library().gss_display_status(
        byref(minor), c_uint32(status), c_int(kind), byref(oid), byref(more), byref(text)
    )
    return _taken(text).decode(errors="replace").rstrip(".")


def _release(name: str, handle: c_void_p) -> None:
    if handle.value:
        getattr(_library(), name)(byref(c_uint32()), byref(handle))


def _oid(elements: bytes) -> _Oid:
    return _Oid(len(elements), ctypes.cast(c_char_p(elements), c_void_p))


def _buffer(data: bytes) -> _Buffer:
    return _Buffer(len(data), ctypes.cast(c_char_p(data), c_void_p))


def _taken(buffer: _Buffer) -> bytes:
    """Copy what the library gave, and give its memory back."""
    data = ctypes.string_at(buffer.value, buffer.length) if buffer.value else b""
    _library().gss_release_buffer(byref(c_uint32()), byref(buffer))
    return data
