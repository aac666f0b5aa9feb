"""The queue of the optimizer, for tables of every format, and what all its capabilities share.

Core has tasks, their scoring and estimates, one dispatcher (`services/dispatcher.py`), one place
that stores results (`services/results.py`), what people may request (`services/actions.py`), and
the runs that inspect tables and execute tasks (`run_kinds.py`). It imports no table format; formats
register with it.

**A new table format** is a folder beside `iceberg` and `hudi`: the model of its tables (a
`MaintainedTable`) and one `TableMaintainer` (`services/maintainers.py`), which the `registration`
of its planner registers. By one migration its field goes into `TABLE_FIELDS`, `OptimizeTask` and
`RemovalPlan`. Its runs subclass `InspectKind`, `TasksKind` and `RemovalsKind` and name their jobs;
`optimizer.discovery.jobs` lists its tables; `optimizer.policies.domain.formats` has its policies.

**A new kind of maintenance**, such as an index or a cube, is a decider and an executor in the
format's folder, each a row of one table. Of Iceberg tables: a kind in `TaskKind`, a row of `UPKEEP`
(`iceberg/planner/domain/maintenance.py`) and one of `EXECUTORS`
(`iceberg/execution/jobs/optimize.py`). Of Hudi tables: a `Service`, its need
(`hudi/planner/domain/needs.py`) and rows of `ACTS` (`hudi/maintenance/jobs/run_services.py`). Its
label is beside the others (`core/ui/badges.py`, `hudi/pages/ui/badges.py`). Queue, budget, blackout
windows, locks, results, pages and API need nothing more; the test
`tests/unit/optimizer/test_optimizer_kinds.py` names what is missing.
"""
