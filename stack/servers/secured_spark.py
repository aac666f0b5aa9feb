"""Spark standalone that asks everybody for a secret, and encrypts its calls."""

import secrets
from pathlib import Path

from stack.ledger import Ledger
from stack.servers.spark import SparkMaster, SparkWorker


class SecuredSpark:
    """A master and a worker; `properties_file` has the secret, for servers and programs alike."""

    def __init__(self, var: Path, *, ledger: Ledger, n_cores: int = 2) -> None:
        self.properties_file = var / "spark-secured.conf"
        self.master = SparkMaster(var, ledger=ledger)
        self.worker = SparkWorker(var, ledger=ledger, master=self.master.url, n_cores=n_cores)

    def start(self) -> None:
        """Write the file, start both servers, and wait for them."""
        self.properties_file.touch(mode=0o600)
        self.properties_file.write_text(
            f"""spark.authenticate true
spark.authenticate.secret {secrets.token_urlsafe(24)}
spark.network.crypto.enabled true
spark.network.crypto.saslFallback false
""",
            encoding="utf-8",
        )
        for server in (self.master, self.worker):
            server.properties_file = self.properties_file
            server.start()
            server.wait_ready()

    def stop(self) -> None:
        """End both; twice does nothing."""
        self.worker.stop()
        self.master.stop()
