"""The demo's shop: a MariaDB of its own whose tables a pipeline captures into the lake."""

from collections.abc import Mapping

from portal.connectors.metastore import Metastore
from stack.demo_days import Made
from stack.lake.plan import SHOP
from stack.lake.shop import DB
from stack.process import LOOPBACK, free_port
from stack.programs import Programs
from stack.say import step
from stack.servers.portal import Capture, ShopTables
from stack.servers.shop_writer import ShopWriter
from stack.servers.source_db import CAPTURE_PASSWORD, CAPTURE_USER, SourceDb
from stack.stack import LAKE, Stack

PASSWORD: Mapping[str, str] = {"LAKEWARDEN_CDC_PASSWORD_SHOP": CAPTURE_PASSWORD}
_SERVER_ID = 7001
_PORT = "shop_port"


def open_shop(
    stack: Stack, programs: Programs, made: Made, settings: Mapping[str, str]
) -> Capture | None:
    """Start the shop and see to its pipeline; returns what captures it, not started yet.

    None where the lake has no database for it: one that was made by an earlier version. What is
    made of the captured tables is defined by a program of its own, once they are in the lake.
    """
    with Metastore.connect(stack.config()) as metastore:
        if SHOP.name not in metastore.databases():
            return None
    ledger = stack.ledger
    # A pipeline knows its source by its port.
    port = free_port(LOOPBACK, wanted=ledger.fact(_PORT) or 0)
    ledger.note(**{_PORT: port})
    source = SourceDb(stack.var, ledger=ledger, port=port)
    with step("A shop on a MariaDB of its own, which sells all the time"):
        source.start()
        source.wait_ready()
        shop = ShopWriter(stack.var, ledger=ledger, socket=source.socket)
        shop.start()
        shop.wait_ready()
    with made.once("pipeline", f"A pipeline that captures {DB}.* into the lake") as todo:
        if todo:
            command = ["cdc_pipeline", DB, "--lake", LAKE, "--host", LOOPBACK, "--port", str(port)]
            command += ["--user", CAPTURE_USER, "--password-name", "SHOP"]
            command += ["--server-id", str(_SERVER_ID)]
            command += ["--patterns", f"{DB}.*", "--target-db", SHOP.name]
            programs.portal(*command)
    tables = ShopTables(stack.var, ledger=ledger, settings=settings, lakes=stack.lakes_file)
    if not tables.is_done:
        tables.start()
    return Capture(stack.var, ledger=ledger, settings=settings)
