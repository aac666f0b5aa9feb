"""What capabilities of refresh share: the language of StarRocks, its names, and limits of load.

A front end is spoken to through `connectors`, in the statements of `domain/statements.py`; the
metastore is read and both are protected by breakers and token buckets in `services`.
"""
