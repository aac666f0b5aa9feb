"""The lifecycle room over REST: the same lists, filters and rights as the pages."""
