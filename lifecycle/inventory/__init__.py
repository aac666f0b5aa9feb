"""The scan of the lake, and the lists and pages of what it found.

`jobs/scan.py` reads the metastore's database and the file system in Spark, `services/ingest.py`
loads its result, `selectors` read it and `ui` shows it. `selectors/item_details.py` explains one
item to people; the rule that makes it due is `lifecycle/expiry/domain/rule.py`.
"""
