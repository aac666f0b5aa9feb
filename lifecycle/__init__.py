"""Lifecycle of Hive data: path rules, expiry, notices, approved drops with a backup, and restore.

Data flows from the bottom to the top. `inventory` scans the lake and judges it by `rules` (where
data may be) and `expiry` (when data is due, `expiry/domain/rule.py`). `notices` tells owners.
`drop` and `relocation` make plans that people approve and share `planning`; their jobs act through
the engine in `backup`. `restore` brings data back and purges old backups, and `restore_tests`
proves that it works.

What people set is in `policies` (LEVEL, TTL, owners, holds), `enrollment`, and `databases` (modes
and days). `guard` takes in what the metastore's own guard reports, `schedule` has what runs by the
clock, and `core` is what the others share. Who may approve is not decided here: see
`portal/approvals/domain.py`.
"""
