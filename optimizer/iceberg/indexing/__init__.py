"""Builds file indexes of Iceberg tables, publishes them beside the data, and takes them away.

The format, and how values become indexes, is `optimizer.indexes`; here are the files that lack one,
the job that reads them once for all their columns, and the manifest of what is there.
"""
