"""Quality of data: the ready flag of partitions, and freshness rules (SLAs) with their deadlines.

`ready_flag` sets a partition's flag, `freshness` decides by rule whether a partition is ready and
whether it is late.
"""
