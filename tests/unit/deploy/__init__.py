"""Files by which a site is deployed: units, container, proxy, settings."""
