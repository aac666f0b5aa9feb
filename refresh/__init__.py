"""The room of cache refresh: keeping what StarRocks front ends cache of Hive metadata fresh.

`domain` says what to send, where, when, and what an answer proves; `connectors` speaks to one front
end; `models` keep what changed and what each front end took in; `services` hear, plan and act.
"""
