"""Asks the JVM for each Java name once.

py4j asks again whenever a name such as `jvm.functions` or `jvm.org.apache` is used, and the JVM
then searches every jar for a class of that name: 3 ms for each column of a query, measured with the
jars of a lake.
"""

from functools import cache, wraps
from typing import Any

from py4j.java_gateway import JavaPackage, JVMView


@cache
def remember_java_names() -> None:
    """Have this process remember what a Java name means; a second call changes nothing."""
    for holder in (JVMView, JavaPackage):
        holder.__getattr__ = _remembering(holder.__getattr__)


def _remembering(ask: Any) -> Any:
    @wraps(ask)
    def remembered(self: Any, name: str) -> Any:
        found = ask(self, name)
        # A class that is not there looks like a package; a jar may bring it later.
        if not (isinstance(found, JavaPackage) and name[:1].isupper()):
            vars(self)[name] = found
        return found

    return remembered
