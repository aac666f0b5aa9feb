"""A simulator of StarRocks front ends over a real metastore: no package has a front end in it.

It follows what was measured on real clusters, 2.2 and 3.x, to the letter of the error texts. What
it leaves out, it refuses: nothing refreshes by itself here (no expiry, no background refresh, no
events), as on the clusters whose caches are set never to expire.
"""
