"""Installs the KDC that the tier of real clusters runs by itself."""

import os
import shutil
import subprocess

from stack.bootstrap import without_services
from stack.errors import StackError
from stack.servers.kdc import PROGRAMS, find_program

_KDC_PACKAGES = ("krb5-kdc", "krb5-admin-server", "krb5-user")


def fetch_kdc() -> bool:
    """Install Debian's KDC, which a stack runs by itself; False if it is there already.

    Raises:
        StackError: apt could not, or is not there; it says what to install.
    """
    if all(find_program(name) for name in PROGRAMS):
        return False
    wanted = " ".join(_KDC_PACKAGES)
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise StackError(f"The tier of clusters needs a KDC. Install it: apt-get install {wanted}")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *_KDC_PACKAGES]
    with without_services():
        subprocess.run(["apt-get", "update", "-qq"], check=False, env=environment)
        done = subprocess.run(install, check=False, env=environment, capture_output=True, text=True)
    if done.returncode != 0:
        raise StackError(
            f"apt-get could not install {wanted}:\n{(done.stdout + done.stderr)[-2000:]}"
        )
    return True
