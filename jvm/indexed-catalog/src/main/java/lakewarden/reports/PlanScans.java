package lakewarden.reports;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lakewarden.cubes.Catalyst;
import lakewarden.indexes.PlainScan;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.FileSourceScanExec;
import org.apache.spark.sql.execution.RowDataSourceScanExec;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.BatchScanExec;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.execution.metric.SQLMetric;
import org.apache.spark.sql.internal.SQLConf;
import org.apache.spark.sql.sources.BaseRelation;

/**
 * The places at which a query read tables of Iceberg and Hudi, with filters and what was read there.
 *
 * <p>Of a Hudi table that is the size of all files that were left to read, with all their columns.
 */
final class PlanScans {
  private static final int MOST_SCANS = 200;
  private static final int MOST_NODES = 20_000;
  private static final int MOST_DEPTH = 600;
  private static final Set<String> QUERIES =
      Set.of("SparkBatchQueryScan", "SparkCopyOnWriteScan");

  /** One of them. */
  static final class One {
    final TableName name;
    final Long snapshot;
    final Set<Filter> filters = new LinkedHashSet<>();
    boolean hasRun;
    long files;
    long skipped;
    long bytes;
    long rows;

    /** The place where a Hudi table is read; null for a table of Iceberg. */
    private final LogicalRelation hudi;

    /** Catalogs that are told of it. */
    private Set<String> catalogs;

    private One(TableName name, Long snapshot, LogicalRelation hudi) {
      this.name = name;
      this.snapshot = snapshot;
      this.hudi = hudi;
      catalogs = Set.of(name.catalog);
    }

    private void measure(BatchScanExec ran) {
      hasRun = true;
      files = figure(ran, "resultDataFiles");
      skipped = figure(ran, "skippedDataFiles");
      bytes = figure(ran, "totalDataFileSize");
      rows = figure(ran, "numOutputRows");
    }

    private void measureFiles(SparkPlan ran) {
      hasRun = true;
      files = figure(ran, "numFiles");
      bytes = figure(ran, "filesSize");
      rows = figure(ran, "numOutputRows");
    }

    /** Whether a scan is of this place; one of no column is of any place of its relation. */
    private boolean isOf(BaseRelation relation, SparkPlan scan) {
      if (hudi == null || hasRun || hudi.relation() != relation) {
        return false;
      }
      Set<Long> ours = new HashSet<>();
      Catalyst.list(hudi.output()).forEach(one -> ours.add(one.exprId().id()));
      List<Attribute> read = Catalyst.list(scan.output());
      return read.isEmpty() || read.stream().anyMatch(one -> ours.contains(one.exprId().id()));
    }

    private static long figure(SparkPlan ran, String name) {
      scala.Option<SQLMetric> found = ran.metrics().get(name);
      return found.isDefined() ? Math.max(0, found.get().value()) : 0;
    }
  }

  final List<QuerySelects.Use> asked;
  String unread = "";
  private final Map<Scan, One> known = new IdentityHashMap<>();
  private final List<One> all = new ArrayList<>();
  private final Set<String> catalogs = new LinkedHashSet<>();

  /** All tables that the query names, where that is sure. */
  private final Set<TableName> tables = new HashSet<>();
  private int nodes;

  private PlanScans(List<QuerySelects.Use> asked) {
    this.asked = asked;
  }

  static PlanScans of(QueryExecution query) {
    PlanScans found = new PlanScans(new ArrayList<>());
    try {
      found.name(query.optimizedPlan(), null, 0);
      found.measure(query.executedPlan(), 0);
      if (!found.catalogs.isEmpty()) {
        SQLConf conf = query.sparkSession().sessionState().conf();
        found.asked.addAll(QuerySelects.of(query.analyzed(), conf));
        found.tables.addAll(AllTables.of(query.analyzed(), conf));
        found.placeStored();
      }
    } catch (TooLarge e) {
      found.unread = e.getMessage();
    }
    return found;
  }

  /** A plan that is not worth its walk. */
  static final class TooLarge extends RuntimeException {
    private static final long serialVersionUID = 1;

    TooLarge(String message) {
      super(message, null, false, false);
    }
  }

  /** Catalogs of which the query read tables. */
  Set<String> catalogs() {
    return catalogs;
  }

  /** What was read of a catalog's tables. */
  List<One> of(String catalog) {
    List<One> found = new ArrayList<>();
    for (One one : all) {
      if (one.hasRun && one.catalogs.contains(catalog)) {
        found.add(one);
      }
    }
    return found;
  }

  /** Whether it is sure that what was read of a catalog's tables is all that the query names. */
  boolean namesAll(String catalog) {
    Set<TableName> told = new HashSet<>();
    of(catalog).forEach(one -> told.add(one.name));
    return unread.isEmpty() && !tables.isEmpty() && told.containsAll(tables);
  }

  /**
   * A Hudi table that the query does not name stands for an aggregate of tables that it names: their
   * catalogs are told, as if it were one of theirs.
   */
  private void placeStored() {
    Set<TableName> named = new HashSet<>();
    asked.forEach(one -> named.add(one.name));
    Set<TableName> read = new HashSet<>();
    all.stream().filter(one -> one.hasRun).forEach(one -> read.add(one.name));
    Set<String> unread = new HashSet<>();
    named.stream().filter(one -> !read.contains(one)).forEach(one -> unread.add(one.catalog));
    catalogs.clear();
    for (One one : all) {
      if (one.hudi != null && !named.contains(one.name) && !unread.isEmpty()) {
        one.catalogs = unread;
      }
      catalogs.addAll(one.catalogs);
    }
  }

  private void count(int depth) {
    if (++nodes > MOST_NODES || depth > MOST_DEPTH) {
      throw new TooLarge("The plan has more than " + MOST_NODES + " nodes, or too many levels.");
    }
  }

  private void name(LogicalPlan plan, Expression upon, int depth) {
    count(depth);
    if (plan instanceof DataSourceV2ScanRelation) {
      name((DataSourceV2ScanRelation) plan, upon);
      return;
    }
    if (TableName.isHudi(plan)) {
      name((LogicalRelation) plan, upon);
      return;
    }
    Expression condition =
        plan instanceof org.apache.spark.sql.catalyst.plans.logical.Filter
            ? ((org.apache.spark.sql.catalyst.plans.logical.Filter) plan).condition()
            : null;
    Catalyst.list(plan.children()).forEach(child -> name(child, condition, depth + 1));
    Catalyst.list(plan.subqueries())
        .forEach(inner -> name((LogicalPlan) inner, null, depth + 1));
  }

  private void name(DataSourceV2ScanRelation found, Expression upon) {
    TableName name = TableName.of(found.relation());
    Scan scan = PlainScan.of(found.scan());
    // Upkeep reads files that it planned before, by scans of another kind.
    if (name == null || !QUERIES.contains(scan.getClass().getSimpleName())) {
      return;
    }
    One one = add(new One(name, TableName.snapshot(found.relation()), null));
    one.filters.addAll(PushedFilters.of(scan, one));
    // What stands upon the scan of a DELETE or MERGE chooses the rows that stay.
    if (upon != null && found.relation().table() instanceof SparkTable) {
      addFilters(one, found, upon);
    }
    known.put(found.scan(), one);
  }

  private void name(LogicalRelation found, Expression upon) {
    TableName name = TableName.of(found);
    if (name == null) {
      return;
    }
    One one = add(new One(name, null, found));
    if (upon != null) {
      addFilters(one, found, upon);
    }
  }

  private One add(One one) {
    catalogs.add(one.name.catalog);
    if (all.size() == MOST_SCANS) {
      throw new TooLarge("The query reads tables at more than " + MOST_SCANS + " places.");
    }
    all.add(one);
    return one;
  }

  private static void addFilters(One one, LogicalPlan read, Expression upon) {
    Origins origins = new Origins();
    for (Attribute each : Catalyst.list(read.output())) {
      origins.add(each, one);
    }
    one.filters.addAll(new Conditions(origins).filters(upon));
  }

  private void measure(SparkPlan plan, int depth) {
    count(depth);
    if (plan instanceof BatchScanExec) {
      BatchScanExec scan = (BatchScanExec) plan;
      One one = known.get(scan.scan());
      if (one != null) {
        one.measure(scan);
        addJoinKeys(one, scan);
      }
    } else if (plan instanceof FileSourceScanExec) {
      measure(((FileSourceScanExec) plan).relation(), plan);
    } else if (plan instanceof RowDataSourceScanExec) {
      measure(((RowDataSourceScanExec) plan).relation(), plan);
    } else if (plan instanceof AdaptiveSparkPlanExec) {
      measure(((AdaptiveSparkPlanExec) plan).executedPlan(), depth + 1);
    } else if (plan instanceof QueryStageExec) {
      measure(((QueryStageExec) plan).plan(), depth + 1);
    }
    Catalyst.list(plan.children()).forEach(child -> measure(child, depth + 1));
    Catalyst.list(plan.subqueries()).forEach(inner -> measure((SparkPlan) inner, depth + 1));
  }

  private void measure(BaseRelation relation, SparkPlan scan) {
    all.stream()
        .filter(one -> one.isOf(relation, scan))
        .findFirst()
        .ifPresent(one -> one.measureFiles(scan));
  }

  /** Filters by the keys that a join finds while it runs. */
  private static void addJoinKeys(One one, BatchScanExec scan) {
    Origins origins = new Origins();
    for (Attribute each : Catalyst.list(scan.output())) {
      origins.add(each, one);
    }
    for (Expression filter : Catalyst.list(scan.runtimeFilters())) {
      for (Origins.Column column : origins.columns(filter)) {
        if (!PushedFilters.isOfFile(column.name)) {
          one.filters.add(new Filter(one, column.name, Filter.DYNAMIC));
        }
      }
    }
  }
}
