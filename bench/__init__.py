"""Benchmarks that anyone can rerun, each against a named peer or limit."""
