"""A lake with Kerberos: metastore and HDFS that ask everybody for a proof."""
