"""Connectors: one outside system each, always with time-outs, its errors translated.

`file_status.py` is the port to file systems. It says what a rename means whose answer was lost (by
a NameNode, say): both ends are read, and they decide. `hdfs_filesystem.py` and
`local_filesystem.py` implement it, `metastore.py` speaks Thrift. Nothing here retries or knows
Django; jobs, workers and tests share it. What a run does after a lost answer is in
`lifecycle/backup/engine/settle`.
"""
