"""Decodes text columns from the bytes that the binary log has, by the name of their character set.

Bytes that a set leaves undefined become what a SELECT in utf8mb4 shows.
"""

from collections.abc import Callable

from portal.lake.errors import RuleViolation

Decode = Callable[[bytes], str]

_CODECS = {
    **dict.fromkeys(("utf8", "utf8mb3", "utf8mb4", "ascii"), "utf-8"),
    **{"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be"},
    **{"cp1250": "cp1250", "cp1251": "cp1251", "cp1256": "cp1256", "cp1257": "cp1257"},
    **{"cp850": "cp850", "cp852": "cp852", "cp866": "cp866", "cp932": "cp932"},
    **{"latin2": "iso8859-2", "latin5": "iso8859-9", "latin7": "iso8859-13"},
    **{"greek": "iso8859-7", "hebrew": "iso8859-8", "koi8r": "koi8-r", "koi8u": "koi8-u"},
    **{"macroman": "mac-roman", "macce": "mac-latin2", "tis620": "tis-620", "big5": "big5"},
    **{"gbk": "gbk", "gb2312": "gb2312", "gb18030": "gb18030", "euckr": "euc-kr"},
    **{"sjis": "shift-jis", "ujis": "euc-jp", "eucjpms": "euc-jp"},
}
# MySQL's latin1 is Windows' 1252, with the five bytes that this leaves undefined as they are.
_LATIN1 = {
    byte: bytes((byte,)).decode("cp1252")
    for byte in range(0x80, 0xA0)
    if byte not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)
}


def _latin1(data: bytes) -> str:
    return data.decode() if data.isascii() else data.decode("latin-1").translate(_LATIN1)


def decoder(charset: str) -> Decode:
    """Return the function that decodes texts of a character set.

    Raises:
        RuleViolation: `cdc.charset`, where it is one that cannot be decoded.
    """
    if charset == "latin1":
        return _latin1
    codec = _CODECS.get(charset)
    if codec is None:
        raise RuleViolation(
            "cdc.charset", f"Texts of character set {charset!r} cannot be read from a binary log."
        )
    return lambda data: data.decode(codec, "replace")
