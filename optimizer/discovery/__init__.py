"""Learns of tables: handles metastore events, and polls the metastore for missed ones.

`services/event_handlers.py` gives events to each format, `services/poll.py` compares what the job
`jobs.py` lists with the stored rows.
"""
