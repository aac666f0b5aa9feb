"""A small proxy before Trino's statement endpoint that rewrites queries and passes all else on.

It is a process of its own without Django, started by an operator. The client gets Trino's answer
and goes on with Trino directly. Whatever goes wrong in rewriting, the statement is sent as it came.
See docs/trino-proxy.md.
"""
