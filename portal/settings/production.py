"""Settings that a deployment requires. All by environment; a missing value stops the start."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from portal.settings.base import *  # noqa: F403 - settings modules build on each other
from portal.settings.logs import log_format, logging_config
from portal.settings.secret_keys import read_secret_keys

DEBUG = False
SECRET_KEY, *SECRET_KEY_FALLBACKS = read_secret_keys(
    Path(os.environ["LAKEWARDEN_SECRET_KEY_FILE"]), create=False
)
ALLOWED_HOSTS = [urlsplit(os.environ["LAKEWARDEN_BASE_URL"]).hostname or ""]
SECURE_SSL_REDIRECT = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
LAKEWARDEN_PROXIES = int(os.environ.get("LAKEWARDEN_PROXIES", "1"))
SECURE_HSTS_SECONDS = 365 * 24 * 3600
SECURE_HSTS_INCLUDE_SUBDOMAINS = True
SECURE_HSTS_PRELOAD = True
SESSION_COOKIE_SECURE = True
SESSION_COOKIE_NAME = "__Host-lw-session"
CSRF_COOKIE_SECURE = True
CSRF_COOKIE_NAME = "__Host-lw-csrf"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
LAKEWARDEN_LOG_FORMAT = log_format("json")
LOGGING = logging_config(LAKEWARDEN_LOG_FORMAT)
