"""The lake that a command names; of several it has to name one."""

from argparse import ArgumentTypeError

from portal.access.lakes import only_lake
from portal.lake.errors import PortalError


def lake_word(text: str) -> str:
    """Return the lake of a command's argument; the only one where the argument is empty.

    Raises:
        ArgumentTypeError: none is named, and there is none or more than one.
    """
    try:
        return text or only_lake()
    except PortalError as error:
        raise ArgumentTypeError(error.message) from error
