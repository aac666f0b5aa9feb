"""HDFS with two NameNodes, and with two name services."""
