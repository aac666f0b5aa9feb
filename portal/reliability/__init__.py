"""Decides how failing or busy systems are treated: claims, retries, circuit breaker, token bucket.

Pure and without Django: runs, optimizer tasks, notices and the refresh worker store the values in
rows of their own. Leases that elect a leader are rows, in `portal.runs.claims.leases`. What a lost
answer of a file system means is decided in `portal.connectors.file_status`.
"""
