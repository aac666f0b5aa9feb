"""Restore tests: restore a sample of each backup to a scratch place and compare it.

`domain.py` selects the sample and says when a test is due; `jobs/restore_test.py` restores it and
`jobs/compare.py` compares it.
"""
