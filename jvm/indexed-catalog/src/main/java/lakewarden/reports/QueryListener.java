package lakewarden.reports;

import java.util.Map;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.util.QueryExecutionListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the portal of completed queries; a session names it in `spark.sql.queryExecutionListeners`.
 *
 * <p>What Spark tells such a listener lacks the number of the execution, so that a query could not be
 * told from itself, and what its stages read. It is only the door by which a listener of Spark's
 * events comes in, once a driver.
 */
public final class QueryListener implements QueryExecutionListener {
  private static final Logger LOG = LoggerFactory.getLogger(QueryListener.class);

  /** Spark makes one for each session. */
  public QueryListener() {
    try {
      QueryEvents.listenTo(SparkContext.getOrCreate());
    } catch (RuntimeException | LinkageError e) {
      LOG.warn("Queries are not reported", e);
    }
  }

  /** By catalog, how many queries of this driver the portal has taken in, and how many not. */
  public static Map<String, Map<String, Long>> counts() {
    return QueryEvents.counts(SparkContext.getOrCreate());
  }

  @Override
  public void onSuccess(String name, QueryExecution query, long nanos) {
    // Its end is an event besides, which says more.
  }

  @Override
  public void onFailure(String name, QueryExecution query, Exception error) {
    // Likewise.
  }
}
