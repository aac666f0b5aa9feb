"""StarRocks clusters: how they are added, edited and read, and which front ends they have.

`services/trial.py` tries a cluster before it is added, `services/front_ends.py` reads which front
ends respond, and `services/table_names.py` which Hive tables the cluster shows.
`services/fe_cache_settings.py` reads cache settings that conflict with the portal.
"""
