package lakewarden.indexes;

import org.apache.iceberg.spark.source.SparkScanBuilder;
import org.apache.spark.sql.connector.expressions.aggregate.Aggregation;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownAggregates;
import org.apache.spark.sql.connector.read.SupportsPushDownLimit;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.SupportsPushDownV2Filters;
import org.apache.spark.sql.types.StructType;

/** Iceberg's scan builder; it hears every predicate, those too that Iceberg itself cannot use. */
final class IndexedScanBuilder
    implements ScanBuilder,
        SupportsPushDownAggregates,
        SupportsPushDownV2Filters,
        SupportsPushDownRequiredColumns,
        SupportsPushDownLimit {
  private final SparkScanBuilder plain;
  private final Plan plan;

  IndexedScanBuilder(SparkScanBuilder plain, Plan plan) {
    this.plain = plain;
    this.plan = plan;
  }

  @Override
  public Predicate[] pushPredicates(Predicate[] predicates) {
    plan.ask(predicates);
    return plain.pushPredicates(predicates);
  }

  @Override
  public Predicate[] pushedPredicates() {
    return plain.pushedPredicates();
  }

  @Override
  public boolean supportCompletePushDown(Aggregation aggregation) {
    return plain.supportCompletePushDown(aggregation);
  }

  @Override
  public boolean pushAggregation(Aggregation aggregation) {
    plan.pause();
    try {
      return plain.pushAggregation(aggregation);
    } finally {
      plan.resume();
    }
  }

  @Override
  public void pruneColumns(StructType requiredSchema) {
    plain.pruneColumns(requiredSchema);
  }

  @Override
  public boolean pushLimit(int limit) {
    return plain.pushLimit(limit);
  }

  @Override
  public boolean isPartiallyPushed() {
    return plain.isPartiallyPushed();
  }

  @Override
  public Scan build() {
    return IndexedScan.of(plain.build(), plain::build, plan);
  }
}
