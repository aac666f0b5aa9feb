"""A Spark session behind a pipe: one JSON line {"sql": ...} in, one line of rows or error out.

Tests make their tables through it, so that two metastores never share one JVM.
"""

import json
import os
import sys
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException

from stack.lake.session import open_session_of


def main() -> None:
    """Serve until end of file. Usage: python -m stack.lake.shell LAKES_JSON [formats]."""
    # Answers go out on the real standard output; whatever else prints goes to the log.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8", buffering=1)
    os.dup2(2, 1)
    spark = open_session_of(Path(sys.argv[1]), formats="formats" in sys.argv[2:])
    answers.write('{"ready": true}\n')
    for line in sys.stdin:
        reply: dict[str, Any]
        try:
            rows = spark.sql(json.loads(line)["sql"]).collect()
            reply = {"rows": [list(row) for row in rows]}
        except PySparkException as error:
            reply = {"error": str(error)}
        answers.write(json.dumps(reply, default=str) + "\n")


if __name__ == "__main__":
    main()
