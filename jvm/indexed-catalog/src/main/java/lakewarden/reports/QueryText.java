package lakewarden.reports;

import org.apache.spark.sql.catalyst.plans.logical.GlobalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LocalLimit;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.V2WriteCommand;
import org.apache.spark.sql.execution.QueryExecution;
import scala.Option;

/** Finds the SQL of which a query was made; DataFrames have none. */
final class QueryText {
  private static final int MOST = 200_000;
  private static final int MOST_LAYERS = 16;

  private QueryText() {}

  static String of(QueryExecution query) {
    LogicalPlan plan = query.logical();
    for (int layer = 0; layer < MOST_LAYERS && plan != null; layer++) {
      Option<String> text = plan.origin().sqlText();
      if (text.isDefined()) {
        // One that is cut off could be read as another query.
        return text.get().length() <= MOST ? text.get() : "";
      }
      plan = within(plan);
    }
    return "";
  }

  /** What a program put around a query to show or write it: it asks nothing more of tables. */
  private static LogicalPlan within(LogicalPlan plan) {
    boolean isPlain =
        plan instanceof Project
            || plan instanceof GlobalLimit
            || plan instanceof LocalLimit
            || plan instanceof V2WriteCommand;
    return isPlain ? plan.children().head() : null;
  }
}
