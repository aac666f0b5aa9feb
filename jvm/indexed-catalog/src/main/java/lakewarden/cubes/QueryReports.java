package lakewarden.cubes;

import java.util.HashSet;
import java.util.Set;
import lakewarden.indexes.CubeReport;
import lakewarden.indexes.CubeUse;
import lakewarden.indexes.Part;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation;
import org.apache.spark.sql.util.QueryExecutionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports queries that ran and were answered from cubes, each once a cube.
 *
 * <p>Spark plans many a query more often than it runs it, and some that it never runs: only after a
 * query has ended is it known that it was answered. Spark says so outside of the query's thread.
 */
final class QueryReports implements QueryExecutionListener {
  private static final Logger LOG = LoggerFactory.getLogger(QueryReports.class);

  private QueryReports() {}

  /** Have the session's queries reported, once. */
  static void listen(SparkSession session) {
    synchronized (QueryReports.class) {
      // A cloned session has the listeners of the one that it was cloned from.
      for (QueryExecutionListener one : session.listenerManager().listListeners()) {
        if (one instanceof QueryReports) {
          return;
        }
      }
      session.listenerManager().register(new QueryReports());
    }
  }

  @Override
  public void onSuccess(String name, QueryExecution query, long nanos) {
    try {
      SparkContext context = query.sparkSession().sparkContext();
      report(
          query.optimizedPlan(), nanos, context.appName(), context.sparkUser(), new HashSet<>());
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("A query that a cube answered is not reported", e);
    }
  }

  @Override
  public void onFailure(String name, QueryExecution query, Exception error) {
    // Nothing was answered.
  }

  private static void report(
      LogicalPlan plan, long nanos, String application, String user, Set<String> reported) {
    if (plan instanceof DataSourceV2ScanRelation) {
      Table table = ((DataSourceV2ScanRelation) plan).relation().table();
      CubeUse use = Part.useOf(table);
      if (use != null && reported.add(use.tableUuid() + "/" + use.cube())) {
        Part.report(table, new CubeReport(use, nanos, application, user));
      }
    }
    Catalyst.list(plan.children())
        .forEach(child -> report(child, nanos, application, user, reported));
    Catalyst.list(plan.subqueries())
        .forEach(inner -> report((LogicalPlan) inner, nanos, application, user, reported));
  }
}
