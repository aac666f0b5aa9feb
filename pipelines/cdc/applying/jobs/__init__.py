"""The Spark program that applies changelogs to Hudi tables."""
