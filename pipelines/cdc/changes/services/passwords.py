"""Finds the passwords of captured sources and of Kafka: files that are read at each use, variables.

A file counts before a variable, because it can be replaced without a restart.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from pipelines.cdc.changes.domain.kafka_place import VARIABLE_PREFIX, KafkaPlace
from portal.lake.errors import ExternalFailure
from portal.servers.secret_files import read_secret

_SETTING = "LAKEWARDEN_CAPTURE_PASSWORD_DIR"


def password_of(name: str) -> str | None:
    """Return the password of a name, which forms have checked; None where there is none.

    Raises:
        ExternalFailure: `config.secret_file`, its file is there and cannot be read, or is empty.
    """
    folder = settings.LAKEWARDEN_CAPTURE_PASSWORD_DIR
    if folder:
        try:
            return read_secret(str(Path(folder, name)), setting=_SETTING)
        except ExternalFailure as error:
            if not isinstance(error.__cause__, FileNotFoundError):
                raise
    return os.environ.get(f"{VARIABLE_PREFIX}{name}")


def password_variables(places: Iterable[KafkaPlace | None]) -> dict[str, str]:
    """Return the passwords of places of Kafka, by the variables in which programs look for them.

    Raises:
        ExternalFailure: as of `password_of`.
    """
    named = {place.password_variable: place.password_name for place in places if place}
    found = {variable: password_of(name) for variable, name in sorted(named.items()) if variable}
    return {variable: password for variable, password in found.items() if password is not None}


def kafka_password(place: KafkaPlace) -> str:
    """Return the password of a place; empty without a log-in.

    Raises:
        RuleViolation: `pipeline.password`, there is none.
        ExternalFailure: as of `password_of`.
    """
    return place.password(password_variables([place]))
