"""The platform: identity, runs, approvals, audit, notices, the act protocol and the page frame.

It knows nothing of Hive rules, StarRocks or Iceberg maintenance; rooms register what they bring.
"""
