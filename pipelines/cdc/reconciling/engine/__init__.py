"""The rounds of a comparison, without a server or Spark."""
