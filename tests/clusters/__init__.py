"""Clusters as companies run them: Kerberos, high availability, YARN."""
