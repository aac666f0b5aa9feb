"""Reports of the guard in the metastore: changed policies and dropped objects.

`services/events.py` stores them, `services/alarms.py` notifies people. The guard itself is in
`jvm/metastore-guard`.
"""
