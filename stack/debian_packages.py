"""Installs Debian's packages that only some tests need, when those are asked for."""

from collections.abc import Sequence

from stack.bootstrap import apt_install, can_install
from stack.errors import StackError


def install_packages(packages: Sequence[str], *, needed_for: str) -> None:
    """Install packages without starting their services.

    Raises:
        StackError: apt could not, or is not there; it says what to install.
    """
    if not (can_install() and apt_install(packages)):
        wanted = " ".join(packages)
        raise StackError(
            f"{needed_for} needs more programs. Install them: apt-get install {wanted}"
        )
