"""Settings of the site under pytest.

Each process has a real file database of its own.
"""

import os
import tempfile
from pathlib import Path

from portal.settings.base import *  # noqa: F403 - settings modules build on each other

DEBUG = False
SECRET_KEY = "for tests only: signs nothing that leaves the test run"  # noqa: S105 - not a secret
ALLOWED_HOSTS = ["testserver", "127.0.0.1", "localhost"]
LAKEWARDEN_ALLOW_PLAYED_TIME = True
# One account of a test sends what a hundred programs would; the limit has tests of its own.
LAKEWARDEN_API_PER_MINUTE = LAKEWARDEN_API_TOKEN_PER_MINUTE = 1_000_000
# Where pytest's folders lie and simulated front ends listen; the rules have tests of their own.
LAKEWARDEN_PASSWORD_DIR = Path(tempfile.gettempdir())
LAKEWARDEN_CLUSTER_ADDRESSES = ("127.0.0.0/8:*", "localhost:*", "[::1]:*")
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):  # noqa: F405 - from base
    _sqlite = DATABASES["default"]  # noqa: F405 - from base
    # A file, not memory: threads of one test must meet each other in real transactions.
    _sqlite["TEST"] = {
        "NAME": str(Path(tempfile.gettempdir()) / f"lakewarden-test-{os.getpid()}.sqlite3")
    }
    # It need not outlive a loss of power; what a killed process wrote stays.
    _sqlite["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"
