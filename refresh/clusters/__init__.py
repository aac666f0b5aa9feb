"""StarRocks clusters: how they are added, edited and read, and which front ends they have.

A cluster names the Hive tables that it shows; its own cache settings are judged here too.
"""
