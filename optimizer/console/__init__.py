"""The queue of all formats as people see it: the queue page, cancelling a task, and metrics."""
