"""Takes secrets out of lines that a driver wrote: known ones, and those that are called so."""

import re
from collections.abc import Collection
from urllib.parse import quote

HIDDEN = "***"
# Each begins with a word of its own and has bounded parts, so that a long line takes no long time.
_CALLED = re.compile(
    r"""((?:passw(?:or)?d|passwd|pwd|secret|token|credential|signature|(?:api|access)[._-]?key)
    [\w.-]{0,64}["']?[ \t]{0,8}[=:][ \t]{0,8})
    ("[^"]{0,1000}"|'[^']{0,1000}'|[^\s"',;&)\]}]+)""",
    re.IGNORECASE | re.VERBOSE,
)
_SCHEME = re.compile(r"\b((?:bearer|basic)[ \t]{1,8})[\w.~+/=-]{8,}", re.IGNORECASE)
_USER = re.compile(r"://[^/\s:@]{0,128}:[^/\s@]{1,256}@")


def without_secrets(line: str, known: Collection[str]) -> str:
    """Return a line with `***` in the place of each secret; the known ones also as in addresses."""
    for secret in sorted({form for one in known for form in _forms(one)}, key=len, reverse=True):
        line = line.replace(secret, HIDDEN)
    line = _USER.sub(f"://{HIDDEN}@", line)
    line = _SCHEME.sub(rf"\g<1>{HIDDEN}", line)
    return _CALLED.sub(rf"\g<1>{HIDDEN}", line)


def _forms(secret: str) -> set[str]:
    return {secret, quote(secret, safe="", errors="surrogatepass")} if secret else set()
