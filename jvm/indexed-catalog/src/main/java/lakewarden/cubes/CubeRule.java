package lakewarden.cubes;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import lakewarden.indexes.Part;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.spark.source.SparkTable;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces an aggregate by one over a cube and the data files that it does not cover. */
final class CubeRule extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(CubeRule.class);
  private static final String ENABLED = "spark.lakewarden.cubes.enabled";
  private static final String MOST = "spark.sql.catalog.%s.lakewarden.cubes.most-uncovered";

  private final SparkSession session;

  CubeRule(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    if (plan.isStreaming()
        || !Boolean.parseBoolean(session.sessionState().conf().getConfString(ENABLED, "true"))) {
      return plan;
    }
    return Catalyst.replace(
        plan, one -> one instanceof Aggregate ? answered((Aggregate) one) : null);
  }

  /** The aggregate's answer; null where no cube gives it. */
  private LogicalPlan answered(Aggregate aggregate) {
    try {
      List<DataSourceV2Relation> facts = facts(aggregate);
      return facts.isEmpty() ? null : answered(aggregate, facts);
    } catch (Unfit e) {
      Answers.say("No cube is used: " + e.getMessage());
    } catch (Exception | LinkageError e) {
      // Scala declares no exceptions, and a query must not fail where it could do without us.
      Answers.say("No cube is used: " + e);
      LOG.warn("A query is answered without cubes", e);
    }
    return null;
  }

  /** Tables that have cubes and are not yet answered from one. */
  private static List<DataSourceV2Relation> facts(Aggregate aggregate) {
    List<DataSourceV2Relation> found = new ArrayList<>();
    for (LogicalPlan leaf : Catalyst.list(aggregate.collectLeaves())) {
      if (leaf instanceof DataSourceV2Relation) {
        DataSourceV2Relation one = (DataSourceV2Relation) leaf;
        if (Part.isOf(one.table())) {
          return List.of();
        }
        if (Part.canBeOf(one.table()) && !names((SparkTable) one.table()).isBlank()) {
          found.add(one);
        }
      }
    }
    return found;
  }

  private static String names(SparkTable table) {
    return table.table() instanceof BaseTable
        ? table.table().properties().getOrDefault(Cube.PROPERTY, "")
        : "";
  }

  private LogicalPlan answered(Aggregate aggregate, List<DataSourceV2Relation> facts) {
    String wap = session.sessionState().conf().getConfString("spark.wap.branch", null);
    if (wap != null) {
      throw new Unfit("the session reads the branch %s by spark.wap.branch", wap);
    }
    Query<Leaf> query = new Query<>(aggregate, Leaf::of);
    Candidate best = null;
    for (Leaf leaf : query.leaves) {
      if (facts.contains(leaf.relation)) {
        for (String name : names(leaf.table).split(",")) {
          Candidate one = candidate(query, leaf, name.trim());
          if (one != null && (best == null || one.rows < best.rows)) {
            best = one;
          }
        }
      }
    }
    if (best == null) {
      return null;
    }
    Answers.say(best.note);
    LOG.info("{}", best.note);
    if (best.isReported) {
      QueryReports.listen(session);
    }
    return best.plan;
  }

  private static final class Candidate {
    final LogicalPlan plan;
    final long rows;
    final String note;
    final boolean isReported;

    Candidate(LogicalPlan plan, long rows, String note, boolean isReported) {
      this.isReported = isReported;
      this.plan = plan;
      this.rows = rows;
      this.note = note;
    }
  }

  private Candidate candidate(Query<Leaf> query, Leaf fact, String name) {
    try {
      Cube cube = Cube.of(fact, name);
      Joins joins = new Joins(query, fact, cube);
      Covered covered = Covered.of(cube.coverage, fact);
      double most = most(fact);
      if (covered.freshPart() > most) {
        throw new Unfit(
            "%.0f %% of the rows are not covered, at most %.0f %% may be",
            100 * covered.freshPart(), 100 * most);
      }
      String note =
          String.format(
              Locale.ROOT,
              "Cube %s of %s: %d rows from it, %d rows of %d files afresh",
              name, fact.name(), covered.rows, covered.freshRows,
              covered.fresh.size());
      LogicalPlan plan =
          new CubeAnswer(session, query, joins, cube, covered, " [" + note + "]").plan();
      return new Candidate(plan, cube.rows(), note, Part.isReporting(fact.table));
    } catch (Unfit e) {
      String reason =
          String.format("Cube %s is not used for %s: %s", name, fact.name(), e.getMessage());
      Answers.say(reason);
      LOG.info("{}", reason);
      return null;
    }
  }

  private double most(Leaf fact) {
    String key = String.format(MOST, fact.relation.catalog().get().name());
    String said = session.sessionState().conf().getConfString(key, "0.3");
    try {
      return Double.parseDouble(said);
    } catch (NumberFormatException e) {
      throw new Unfit("%s must be a number from 0 to 1: %s", key, said);
    }
  }
}
