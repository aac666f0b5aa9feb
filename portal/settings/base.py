"""Settings common to every deployment; values that differ come from LAKEWARDEN_* variables."""

import os
from datetime import timedelta
from pathlib import Path

import pymysql
from csp.constants import NONE, SELF

from portal.settings.databases import database_from_url
from portal.settings.driver_logs import driver_log_template
from portal.settings.lists import listed
from portal.settings.logs import log_format, logging_config
from portal.settings.openapi import DESCRIPTION

pymysql.install_as_MySQLdb()

BASE_DIR = Path(__file__).resolve().parents[2]
LAKEWARDEN_VAR = Path(os.environ.get("LAKEWARDEN_VAR", BASE_DIR / "var"))
LAKEWARDEN_LAKES = Path(os.environ.get("LAKEWARDEN_LAKES", LAKEWARDEN_VAR / "lakes.json"))
LAKEWARDEN_DIRECTORY = Path(
    os.environ.get("LAKEWARDEN_DIRECTORY", LAKEWARDEN_VAR / "directory.json")
)
# By which ways people come in (OpenID Connect, LDAP) and which group gives which role.
LAKEWARDEN_SIGN_IN = Path(os.environ.get("LAKEWARDEN_SIGN_IN", LAKEWARDEN_VAR / "sign_in.json"))
LAKEWARDEN_REDIS_URL = os.environ.get("LAKEWARDEN_REDIS_URL", "redis://127.0.0.1:6379/0")
# Its password, read at each connection; for rediss:// the authority of its certificate, and ours.
LAKEWARDEN_REDIS_PASSWORD_FILE = os.environ.get("LAKEWARDEN_REDIS_PASSWORD_FILE", "")
LAKEWARDEN_REDIS_CA = os.environ.get("LAKEWARDEN_REDIS_CA", "")
LAKEWARDEN_REDIS_CERT = os.environ.get("LAKEWARDEN_REDIS_CERT", "")
LAKEWARDEN_REDIS_KEY = os.environ.get("LAKEWARDEN_REDIS_KEY", "")
LAKEWARDEN_BASE_URL = os.environ.get("LAKEWARDEN_BASE_URL", "http://127.0.0.1:8000").rstrip("/")
LAKEWARDEN_COOLING_OFF_SECONDS = int(os.environ.get("LAKEWARDEN_COOLING_OFF_SECONDS", "86400"))
LAKEWARDEN_PROBE_SECONDS = tuple(map(int, listed("LAKEWARDEN_PROBE_SECONDS", "0,3600,86400")))
# Refused in production: time may be played through only where no real lake hangs on it.
LAKEWARDEN_ALLOW_PLAYED_TIME = False


DATABASES = {
    "default": database_from_url(os.environ.get("LAKEWARDEN_DB_URL", ""), var=LAKEWARDEN_VAR)
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
AUTH_USER_MODEL = "access.User"

# Each area and the first part of its addresses.
ROOMS = {
    "lifecycle": "lifecycle",
    "refresh": "refresh",
    "optimizer": "optimizer",
    "quality": "readiness",
    "pipelines": "pipelines",
}
# MariaDB's keys of unique columns had 767 bytes in row formats that 10.2 made history.
SILENCED_SYSTEM_CHECKS = ["mysql.W003"]

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.humanize",
    "csp",
    "django_filters",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "portal.access",
    "portal.audit",
    "portal.people",
    "portal.runs",
    "portal.safety",
    "portal.events",
    "portal.catalog",
    "portal.notices",
    "portal.approvals",
    "portal.ui",
    "portal.search",
    "lifecycle.backup",
    *ROOMS,
    "tasks",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "portal.ui.frame.compression.CompressMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "portal.request_log.RequestLogMiddleware",
    "portal.access.middleware.NoStoreMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "portal.access.middleware.SameSiteMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "portal.access.middleware.SessionLimitsMiddleware",
    "django.contrib.auth.middleware.LoginRequiredMiddleware",
    "portal.ui.frame.context.FrameMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "portal.ui.lists.exports.OneExportMiddleware",
    "portal.search.ui.opened.OpenedMiddleware",
    "portal.ui.frame.errors.PortalErrorMiddleware",
]

ROOT_URLCONF = "portal.urls"
WSGI_APPLICATION = "portal.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "portal.ui.frame.context.frame",
            ],
            "builtins": ["portal.ui.templatetags.lake_forms"],
        },
    }
]

LANGUAGE_CODE = "en-gb"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]

AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
# How many proxies of ours stand before the site: whose word on a browser's address counts.
LAKEWARDEN_PROXIES = int(os.environ.get("LAKEWARDEN_PROXIES", "0"))
AUTHENTICATION_BACKENDS = [
    "portal.people.backends.LocalBackend",
    "portal.people.backends.LdapBackend",
    "portal.people.backends.OidcBackend",
]
LOGIN_URL = "ui:login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "ui:login"

SESSION_IDLE_SECONDS = 30 * 60
SESSION_TOTAL_SECONDS = 12 * 60 * 60
SESSION_COOKIE_AGE = SESSION_TOTAL_SECONDS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_COOKIE_HTTPONLY = True
CSRF_FAILURE_VIEW = "portal.ui.frame.errors.csrf_failure"
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
CSRF_TRUSTED_ORIGINS = [LAKEWARDEN_BASE_URL]
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

_smtp_host, _, _smtp_port = os.environ.get("LAKEWARDEN_SMTP", "127.0.0.1:25").rpartition(":")
EMAIL_BACKEND = "portal.servers.mail.PasswordFileBackend"
EMAIL_HOST = _smtp_host
EMAIL_PORT = int(_smtp_port)
EMAIL_TIMEOUT = 20
EMAIL_HOST_USER = os.environ.get("LAKEWARDEN_SMTP_USER", "")
EMAIL_HOST_PASSWORD = os.environ.get("LAKEWARDEN_SMTP_PASSWORD", "")
LAKEWARDEN_SMTP_PASSWORD_FILE = os.environ.get("LAKEWARDEN_SMTP_PASSWORD_FILE", "")
EMAIL_USE_TLS = os.environ.get("LAKEWARDEN_SMTP_STARTTLS", "") == "1"
DEFAULT_FROM_EMAIL = os.environ.get("LAKEWARDEN_MAIL_FROM", "Lakewarden <lakewarden@localhost>")

# Since when steps of the guided tour count as done (ISO 8601); empty = no tour. The demo sets it.
LAKEWARDEN_TOUR_SINCE = os.environ.get("LAKEWARDEN_TOUR_SINCE", "")

# The file in which the demo says which of its days it plays; Home shows it. Empty = no demo.
LAKEWARDEN_DEMO_PROGRESS = os.environ.get("LAKEWARDEN_DEMO_PROGRESS", "")

# Where people read the log of a Spark application on the cluster; empty = nowhere.
LAKEWARDEN_DRIVER_LOG_URL = driver_log_template(os.environ.get("LAKEWARDEN_DRIVER_LOG_URL", ""))

# A message for each report or alarm to a chat, by an incoming webhook; empty = none.
LAKEWARDEN_WEBHOOK_URL = os.environ.get("LAKEWARDEN_WEBHOOK_URL", "")
LAKEWARDEN_WEBHOOK_URL_FILE = os.environ.get("LAKEWARDEN_WEBHOOK_URL_FILE", "")
LAKEWARDEN_WEBHOOK_SHAPE = os.environ.get("LAKEWARDEN_WEBHOOK_SHAPE", "slack")
LAKEWARDEN_WEBHOOK_HOSTS = listed("LAKEWARDEN_WEBHOOK_HOSTS")
LAKEWARDEN_WEBHOOK_NETWORKS = listed("LAKEWARDEN_WEBHOOK_NETWORKS")
LAKEWARDEN_WEBHOOK_PLAIN = os.environ.get("LAKEWARDEN_WEBHOOK_PLAIN", "") == "1"
# A folder with a file for each password of captured sources and Kafka; empty = only variables.
LAKEWARDEN_CAPTURE_PASSWORD_DIR = os.environ.get("LAKEWARDEN_CAPTURE_PASSWORD_DIR", "")
# Days until a released ticket for a change of schema expires; hosts that may be told of tickets.
LAKEWARDEN_CDC_TICKET_DAYS = int(os.environ.get("LAKEWARDEN_CDC_TICKET_DAYS", "14"))
LAKEWARDEN_CALLBACK_HOSTS = listed("LAKEWARDEN_CALLBACK_HOSTS")
LAKEWARDEN_CALLBACK_SECRET = os.environ.get("LAKEWARDEN_CALLBACK_SECRET", "")
LAKEWARDEN_CALLBACK_SECRET_FILE = os.environ.get("LAKEWARDEN_CALLBACK_SECRET_FILE", "")
# Hours until an incident goes to operators, to admins, and an acknowledged one is open again.
LAKEWARDEN_INCIDENT_HOURS = tuple(map(int, listed("LAKEWARDEN_INCIDENT_HOURS", "8,24,72")))
LAKEWARDEN_INCIDENT_DAYS = int(os.environ.get("LAKEWARDEN_INCIDENT_DAYS", "400"))
LAKEWARDEN_INCIDENT_WEBHOOK_URL = os.environ.get("LAKEWARDEN_INCIDENT_WEBHOOK_URL", "")
LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE = os.environ.get("LAKEWARDEN_INCIDENT_WEBHOOK_URL_FILE", "")

# Requests a minute that a signed-in person and an API token may send to the API, per process.
LAKEWARDEN_API_PER_MINUTE = int(os.environ.get("LAKEWARDEN_API_PER_MINUTE", "600"))
LAKEWARDEN_API_TOKEN_PER_MINUTE = int(os.environ.get("LAKEWARDEN_API_TOKEN_PER_MINUTE", "6000"))
REST_FRAMEWORK = {
    "EXCEPTION_HANDLER": "portal.ui.frame.errors.api_exception_handler",
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "portal.ui.api.bearer.BearerAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["portal.ui.api.throttle.PerCallerThrottle"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["portal.ui.api.parsers.PlainJSONParser"],
    "DEFAULT_FILTER_BACKENDS": ["django_filters.rest_framework.DjangoFilterBackend"],
    "DEFAULT_SCHEMA_CLASS": "portal.ui.api.pages.PortalSchema",
}
SPECTACULAR_SETTINGS = DESCRIPTION
FILTERS_EMPTY_CHOICE_LABEL = "Any"

LAKEWARDEN_LEASE = timedelta(seconds=float(os.environ.get("LAKEWARDEN_LEASE_SECONDS", "30")))
LAKEWARDEN_BEAT_SECONDS = float(os.environ.get("LAKEWARDEN_BEAT_SECONDS", "5"))
LAKEWARDEN_POLL_SECONDS = float(os.environ.get("LAKEWARDEN_POLL_SECONDS", "5"))
LAKEWARDEN_WATCHDOG_SECONDS = float(os.environ.get("LAKEWARDEN_WATCHDOG_SECONDS", "10"))

# How much one drop plan may take; up to SMALL items its share of the lake says nothing.
LAKEWARDEN_PLAN_MAX_ITEMS = int(os.environ.get("LAKEWARDEN_PLAN_MAX_ITEMS", "20000"))
LAKEWARDEN_PLAN_MAX_BYTES = int(os.environ.get("LAKEWARDEN_PLAN_MAX_BYTES", str(100 * 1024**4)))
LAKEWARDEN_PLAN_MAX_PERCENT = int(os.environ.get("LAKEWARDEN_PLAN_MAX_PERCENT", "50"))
LAKEWARDEN_PLAN_SMALL = int(os.environ.get("LAKEWARDEN_PLAN_SMALL", "100"))
# Above either size a plan needs BIG_APPROVALS people instead of two. Lakes may say otherwise.
LAKEWARDEN_PLAN_BIG_ITEMS = int(os.environ.get("LAKEWARDEN_PLAN_BIG_ITEMS", "5000"))
LAKEWARDEN_PLAN_BIG_BYTES = int(os.environ.get("LAKEWARDEN_PLAN_BIG_BYTES", str(10 * 1024**4)))
LAKEWARDEN_PLAN_BIG_APPROVALS = int(os.environ.get("LAKEWARDEN_PLAN_BIG_APPROVALS", "3"))

# For how long an owner may keep data beyond its day: at a time, and in all a year without an admin.
LAKEWARDEN_EXTENSION_DAYS = int(os.environ.get("LAKEWARDEN_EXTENSION_DAYS", "30"))
LAKEWARDEN_EXTENSION_MOST_DAYS = int(os.environ.get("LAKEWARDEN_EXTENSION_MOST_DAYS", "90"))
LAKEWARDEN_ENROL_MAX_TABLES = int(os.environ.get("LAKEWARDEN_ENROL_MAX_TABLES", "1000"))
# How many nonconforming paths one relocation plan takes.
LAKEWARDEN_FIX_MAX_ITEMS = int(os.environ.get("LAKEWARDEN_FIX_MAX_ITEMS", "500"))

# Restore tests: how often, how much of the backups each takes, and for how long a proof
# lasts.
LAKEWARDEN_DRILL_EVERY_DAYS = int(os.environ.get("LAKEWARDEN_DRILL_EVERY_DAYS", "7"))
LAKEWARDEN_DRILL_MAX_ITEMS = int(os.environ.get("LAKEWARDEN_DRILL_MAX_ITEMS", "30"))
LAKEWARDEN_DRILL_MAX_BYTES = int(os.environ.get("LAKEWARDEN_DRILL_MAX_BYTES", str(2 * 1024**3)))
LAKEWARDEN_DRILL_PROOF_DAYS = int(os.environ.get("LAKEWARDEN_DRILL_PROOF_DAYS", "30"))

# From where password files of StarRocks clusters are taken, and the addresses that operators may
# name (hosts, *.domains, networks, with :port or :*); other addresses need an admin's fresh log-in.
LAKEWARDEN_PASSWORD_DIR = Path(
    os.environ.get("LAKEWARDEN_PASSWORD_DIR", LAKEWARDEN_VAR / "cluster_passwords")
)
LAKEWARDEN_CLUSTER_ADDRESSES = listed("LAKEWARDEN_CLUSTER_ADDRESSES")
# Where the head of the audit chain is kept outside of the database, and the key of its seal; best
# of another account than that of the web process.
LAKEWARDEN_AUDIT_ANCHORS = Path(
    os.environ.get("LAKEWARDEN_AUDIT_ANCHORS", LAKEWARDEN_VAR / "audit_anchors.jsonl")
)
LAKEWARDEN_AUDIT_KEY_FILE = Path(
    os.environ.get("LAKEWARDEN_AUDIT_KEY_FILE", LAKEWARDEN_VAR / "audit_key")
)
# Whether admins get the anchored head by mail once a day.
LAKEWARDEN_AUDIT_MAIL = os.environ.get("LAKEWARDEN_AUDIT_MAIL", "1") == "1"
# Seconds that a refresh of the fast, the slow and the very large table lane may take at a front
# end, and beyond (its call to others, a metastore that hangs) before we stop to listen.
LAKEWARDEN_REFRESH_SECONDS = tuple(map(int, listed("LAKEWARDEN_REFRESH_SECONDS", "60,300,1800")))
LAKEWARDEN_REFRESH_BEYOND = float(os.environ.get("LAKEWARDEN_REFRESH_BEYOND", "75"))
# Off, a cluster has one line for all, one statement after the other, the oldest first: only to see
# what lanes are worth (bench/refresh_lanes.py).
LAKEWARDEN_REFRESH_LANES = os.environ.get("LAKEWARDEN_REFRESH_LANES", "1") == "1"
# For how many minutes after a mail of a front end's divergence further ones are folded into one.
LAKEWARDEN_DIVERGENCE_QUIET_MINUTES = int(
    os.environ.get("LAKEWARDEN_DIVERGENCE_QUIET_MINUTES", "60")
)
# For how many days it is kept which statements were sent to a cluster.
LAKEWARDEN_REFRESH_HISTORY_DAYS = int(os.environ.get("LAKEWARDEN_REFRESH_HISTORY_DAYS", "90"))

# For how many days result files that were taken into the database stay in the spool.
LAKEWARDEN_RESULT_DAYS = int(os.environ.get("LAKEWARDEN_RESULT_DAYS", "7"))
# For how many days after the end of a run the log of its driver stays on the host that captured it.
LAKEWARDEN_DRIVER_LOG_DAYS = int(os.environ.get("LAKEWARDEN_DRIVER_LOG_DAYS", "30"))

# For how many days the past of tables is kept, and how much of recorded queries may wait on disk.
LAKEWARDEN_OPTIMIZER_COMMIT_DAYS = int(os.environ.get("LAKEWARDEN_OPTIMIZER_COMMIT_DAYS", "30"))
LAKEWARDEN_OPTIMIZER_TASK_DAYS = int(os.environ.get("LAKEWARDEN_OPTIMIZER_TASK_DAYS", "180"))
LAKEWARDEN_OPTIMIZER_LAYOUT_DAYS = int(os.environ.get("LAKEWARDEN_OPTIMIZER_LAYOUT_DAYS", "90"))
LAKEWARDEN_RECORDED_QUERY_DAYS = int(os.environ.get("LAKEWARDEN_RECORDED_QUERY_DAYS", "35"))
LAKEWARDEN_CHANGELOG_DAYS = int(os.environ.get("LAKEWARDEN_CHANGELOG_DAYS", "7"))
LAKEWARDEN_CHECK_SAMPLE_DAYS = int(os.environ.get("LAKEWARDEN_CHECK_SAMPLE_DAYS", "14"))
LAKEWARDEN_CDC_ASIDE_DAYS = int(os.environ.get("LAKEWARDEN_CDC_ASIDE_DAYS", "90"))
# Modules on the Python path of Spark's driver whose functions layers may call, with commas.
LAKEWARDEN_LAYER_MODULES = listed("LAKEWARDEN_LAYER_MODULES")
LAKEWARDEN_RECORDED_QUERY_MIB = int(os.environ.get("LAKEWARDEN_RECORDED_QUERY_MIB", "256"))
# How much one run of the optimizer takes in hand; larger clusters need more (docs/scale.md).
LAKEWARDEN_OPTIMIZER_TASKS_A_RUN = int(os.environ.get("LAKEWARDEN_OPTIMIZER_TASKS_A_RUN", "20"))
LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN = int(
    os.environ.get("LAKEWARDEN_OPTIMIZER_INSPECTIONS_A_RUN", "200")
)

# json or text: one line an event either way. Production writes json unless told otherwise.
LAKEWARDEN_LOG_FORMAT = log_format("text")
LOGGING = logging_config(LAKEWARDEN_LOG_FORMAT)
