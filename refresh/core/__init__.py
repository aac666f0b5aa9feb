"""What the capabilities of refresh share: the client of StarRocks, its names, and rate limits.

A front end is spoken to through `connectors`, in the statements of `domain/statements.py`, and its
errors are understood by `domain/answers.py`. `services/metastore_reader.py` reads the metastore;
`services/rate_limit.py` protects both by circuit breakers and token buckets.
"""
