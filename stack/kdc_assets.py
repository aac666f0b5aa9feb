"""Installs the KDC that the tier of real clusters runs by itself."""

from stack.debian_packages import install_packages
from stack.servers.kdc import PROGRAMS, find_program

_KDC_PACKAGES = ("krb5-kdc", "krb5-admin-server", "krb5-user", "faketime")


def fetch_kdc() -> bool:
    """Install Debian's KDC, which a stack runs by itself; False if it is there already.

    Raises:
        StackError: apt could not, or is not there; it says what to install.
    """
    if all(find_program(name) for name in PROGRAMS):
        return False
    install_packages(_KDC_PACKAGES, needed_for="The tier of clusters")
    return True
