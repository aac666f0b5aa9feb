"""Records what a real Spark tells of its queries into `queries.jsonl.gz`."""

import gzip
import json
import tempfile
from pathlib import Path

from tests.golden.spark import QUERIES
from tests.support.query_teller import named, told
from tests.support.report_portal import receiving


def main() -> None:
    """Run the driver and keep what came, by name."""
    with receiving() as portal, tempfile.TemporaryDirectory() as root:
        base = portal.address.removesuffix("index-reports") + "api/optimizer/v1/main"
        found = named(portal, told(Path(root), base, "queries"))
    with gzip.GzipFile(QUERIES, "wb", mtime=0) as out:
        for name, query in found:
            line = json.dumps({"name": name, "query": query}, sort_keys=True)
            out.write(line.encode() + b"\n")


if __name__ == "__main__":
    main()
