"""Settings of the workers that tests kill: development, plus the slow kind of run."""

from portal.settings.development import *  # noqa: F403 - settings modules build on each other

INSTALLED_APPS = [*INSTALLED_APPS, "tests.support.slow_work"]  # noqa: F405 - from development
