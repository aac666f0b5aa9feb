"""Settings of the site on one machine: the demo, and a contributor's own server."""

import os
from pathlib import Path

from portal.settings.base import *  # noqa: F403 - settings modules build on each other
from portal.settings.secret_keys import read_secret_keys

DEBUG = os.environ.get("LAKEWARDEN_DEBUG", "") == "1"
SECRET_KEY, *SECRET_KEY_FALLBACKS = read_secret_keys(
    Path(os.environ.get("LAKEWARDEN_SECRET_KEY_FILE", LAKEWARDEN_VAR / "secret_key")),  # noqa: F405 - from base
    create=True,
)
ALLOWED_HOSTS = ["127.0.0.1", "localhost", "[::1]"]
LAKEWARDEN_ALLOW_PLAYED_TIME = True
WHITENOISE_USE_FINDERS = True
WHITENOISE_AUTOREFRESH = True
