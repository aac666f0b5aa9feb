"""Pages of `lifecycle.enrollment`."""
