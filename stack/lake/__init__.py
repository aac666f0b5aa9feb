"""The demo's lake, made as a company's would be: through Spark and the metastore."""
