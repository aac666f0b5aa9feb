"""Ask /livez of the web process in this container, as the proxy before it does; exit 1 if not."""

import http.client
import os
import sys
from urllib.parse import urlsplit

PORT = int(os.environ.get("LAKEWARDEN_PORT", "8000"))
TIMEOUT_SECONDS = 4


def main() -> int:
    """Return 0 if the process answers: without these headers it redirects to https."""
    host = urlsplit(os.environ["LAKEWARDEN_BASE_URL"]).hostname or ""
    link = http.client.HTTPConnection("127.0.0.1", PORT, timeout=TIMEOUT_SECONDS)
    try:
        link.request("GET", "/livez", headers={"Host": host, "X-Forwarded-Proto": "https"})
        return 0 if link.getresponse().status == 200 else 1
    except OSError:
        return 1


if __name__ == "__main__":
    sys.exit(main())
