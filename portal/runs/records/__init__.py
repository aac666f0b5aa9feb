"""Keeps what a run leaves behind: its log for people and the files of its spool."""
