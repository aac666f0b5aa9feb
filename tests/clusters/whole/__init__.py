"""Whole ways of the product on one secured, highly available cluster with drivers on YARN."""
