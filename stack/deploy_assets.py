"""Installs the programs with which the tier of clusters checks the files of a deployment."""

import os
import shutil

from stack.debian_packages import install_packages

_PACKAGES = {
    **dict.fromkeys(("systemd-analyze", "systemd-sysusers", "systemd-tmpfiles"), "systemd"),
    "nginx": "nginx-light",
}


def fetch_deploy_programs() -> bool:
    """Install what is missing by apt, as root on Debian; False if all were there already.

    Raises:
        StackError: apt could not install one.
    """
    missing = sorted({package for name, package in _PACKAGES.items() if program(name) is None})
    if not missing:
        return False
    install_packages(missing, needed_for="The tier of clusters")
    return True


def program(name: str) -> str | None:
    """Return where a program of these is; Debian keeps servers off the path of people."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin")
