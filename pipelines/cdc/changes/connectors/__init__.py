"""Changelogs: a directory of the lake's file system, or topics of Kafka."""
