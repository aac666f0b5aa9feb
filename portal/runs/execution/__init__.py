"""Executes runs: launch, poll, settle, and the takeover from a worker that died."""
