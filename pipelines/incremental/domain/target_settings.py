"""Settings with which the target of a layer is written, besides those of each target."""

from pipelines.incremental.domain.definitions import Layer

KEPT = 10
"""Commits whose versions Hudi's writer keeps without a reader."""
MOST_KEPT = 500
_TYPES = {"COW": "COPY_ON_WRITE", "MOR": "MERGE_ON_READ"}


def target_settings(layer: Layer, *, n_needed: int, parallelism: int) -> dict[str, str]:
    """Return the settings of a write; its readers need the last `n_needed` commits."""
    n = str(parallelism)
    kept = min(max(KEPT, n_needed), MOST_KEPT)
    kind = "Nonpartitioned" if not layer.partition else "Simple"
    if len(layer.key) > 1 and layer.partition:
        kind = "Complex"
    settings = {
        "hoodie.datasource.write.table.type": _TYPES[layer.kind],
        "hoodie.datasource.write.partitionpath.field": layer.partition,
        "hoodie.datasource.write.keygenerator.class": f"org.apache.hudi.keygen.{kind}KeyGenerator",
        "hoodie.datasource.write.hive_style_partitioning": "true",
        "hoodie.datasource.write.partitionpath.urlencode": "true",
        "hoodie.delete.shuffle.parallelism": n,
        "hoodie.clean.commits.retained": str(kept),
        # The archive keeps more commits than the cleaner, or Hudi refuses to write.
        "hoodie.keep.min.commits": str(kept + 10),
        "hoodie.keep.max.commits": str(kept + 20),
    }
    if not layer.partition:
        return settings
    sync = "hoodie.datasource.hive_sync"
    return {
        **settings,
        # A row whose partition changes moves, wherever it is.
        "hoodie.index.type": "GLOBAL_SIMPLE",
        "hoodie.simple.index.update.partition.path": "true",
        "hoodie.global.simple.index.parallelism": n,
        f"{sync}.partition_fields": layer.partition,
        f"{sync}.partition_extractor_class": "org.apache.hudi.hive.MultiPartKeysValueExtractor",
    }
