"""The clock that a service is given, so that tests can set it."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]
