package lakewarden.reports;

import java.util.HashSet;
import java.util.Set;
import lakewarden.cubes.Catalyst;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Command;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.OneRowRelation;
import org.apache.spark.sql.internal.SQLConf;

/**
 * All tables that a query reads, where that is sure: who sees what a query asks depends on it.
 *
 * <p>The analyzed plan names what the text does, in views and in parts that the optimizer takes away
 * too. A query that writes, or that reads anything but tables of Iceberg and Hudi, has no
 * such list.
 */
final class AllTables {
  private static final int MOST_NODES = 20_000;
  private static final int MOST_DEPTH = 600;
  private static final String PRECEDENCE = "spark.sql.legacy.ctePrecedencePolicy";

  private final Set<TableName> tables = new HashSet<>();
  private final Set<Long> defined = new HashSet<>();
  private final Set<Long> referred = new HashSet<>();
  private int nodes;

  private AllTables() {}

  /** The tables; none where that is not sure. */
  static Set<TableName> of(LogicalPlan analyzed, SQLConf conf) {
    // That way of analysis leaves out what nothing refers to, and the text still names it.
    if (conf.getConfString(PRECEDENCE, "EXCEPTION").trim().equalsIgnoreCase("LEGACY")) {
      return Set.of();
    }
    AllTables found = new AllTables();
    boolean isSure = found.read(analyzed, 0) && found.defined.containsAll(found.referred);
    return isSure ? found.tables : Set.of();
  }

  private boolean read(LogicalPlan plan, int depth) {
    if (++nodes > MOST_NODES || depth > MOST_DEPTH || plan instanceof Command) {
      return false;
    }
    if (plan instanceof CTERelationDef) {
      defined.add(((CTERelationDef) plan).id());
    }
    for (LogicalPlan child : Catalyst.list(plan.children())) {
      if (!read(child, depth + 1)) {
        return false;
      }
    }
    for (Object inner : Catalyst.list(plan.subqueries())) {
      if (!read((LogicalPlan) inner, depth + 1)) {
        return false;
      }
    }
    return !plan.children().isEmpty() || leaf(plan);
  }

  private boolean leaf(LogicalPlan plan) {
    if (plan instanceof OneRowRelation) {
      return true;
    }
    if (plan instanceof CTERelationRef) {
      referred.add(((CTERelationRef) plan).cteId());
      return true;
    }
    TableName name = TableName.asked(plan);
    if (name != null) {
      tables.add(name);
    }
    return name != null;
  }
}
