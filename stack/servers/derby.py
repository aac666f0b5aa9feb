"""Derby as a network server: the metastore's database of the embedded stack.

The schema takes 16 s to load, so it is loaded once into var/cache and copied from then on.
"""

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from stack.errors import StackError
from stack.ledger import Ledger
from stack.places import JARS, REPO
from stack.process import LOOPBACK, SHORT_LIVED_JVM
from stack.servers.base import Server

USER = "app"
PASSWORD = "app"  # noqa: S105  (Derby's own default; the server listens on loopback only)
DATABASE = "metastore"
DRIVER = "org.apache.derby.jdbc.ClientDriver"
_SCHEMA = JARS / "metastore" / "hms" / "scripts" / "metastore" / "upgrade" / "derby"
_TEMPLATE = REPO / "var" / "cache" / "derby-hms-3.1.3"


def derby_class_path() -> str:
    """Return Derby 10.14; it must come before the metastore's own, older one."""
    return ":".join(map(str, sorted((JARS / "metastore").glob("derby*.jar"))))


def make_template() -> bool:
    """Load the metastore's schema into the cached database; False if it was there."""
    if _TEMPLATE.is_dir():
        return False
    fresh = _TEMPLATE.with_suffix(".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.parent.mkdir(parents=True, exist_ok=True)
    script = f"connect 'jdbc:derby:{fresh};create=true;user={USER};password={PASSWORD}';\n"
    script += "run 'hive-schema-3.1.0.derby.sql';\n"
    done = subprocess.run(
        [
            *("java", "-Dderby.system.durability=test"),
            *(f"-Dderby.stream.error.file={fresh}.log", "-cp", derby_class_path()),
            "org.apache.derby.tools.ij",
        ],
        check=False,
        input=script,
        cwd=_SCHEMA,
        capture_output=True,
        text=True,
    )
    if done.returncode != 0 or "VERSION" not in done.stdout.upper():
        raise StackError(f"The metastore's schema did not load into Derby:\n{done.stdout[-2000:]}")
    fresh.rename(_TEMPLATE)
    return True


class Derby(Server):
    """A Derby network server with the metastore's schema."""

    name = "derby"

    def __init__(self, var: Path, *, ledger: Ledger, port: int | None = None) -> None:
        super().__init__(var, ledger=ledger, port=port)
        self.jdbc_url = f"jdbc:derby://{LOOPBACK}:{self.port}/{DATABASE}"

    def prepare(self) -> None:
        """Copy the cached database on the first start."""
        super().prepare()
        make_template()
        if not (self.directory / DATABASE).is_dir():
            shutil.copytree(_TEMPLATE, self.directory / DATABASE)

    def command(self) -> Sequence[str]:
        """Return the argv of Derby's network server."""
        return [
            "java",
            *SHORT_LIVED_JVM,
            "-Xmx256m",
            f"-Dderby.system.home={self.directory}",
            "-cp",
            derby_class_path(),
            "org.apache.derby.drda.NetworkServerControl",
            *("start", "-h", LOOPBACK, "-p", str(self.port), "-noSecurityManager"),
        ]
