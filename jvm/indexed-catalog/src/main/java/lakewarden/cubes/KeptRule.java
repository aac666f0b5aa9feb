package lakewarden.cubes;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import lakewarden.indexes.Part;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Subquery;
import org.apache.spark.sql.catalyst.rules.Rule;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces an aggregate by one over a materialization that has what its tables have. */
final class KeptRule extends Rule<LogicalPlan> {
  private static final Logger LOG = LoggerFactory.getLogger(KeptRule.class);
  private static final String TABLES = "spark.lakewarden.materializations.tables";
  private static final String MOST_LAG = "spark.lakewarden.materializations.max-lag-seconds";

  private final SparkSession session;

  KeptRule(SparkSession session) {
    this.session = session;
  }

  @Override
  public LogicalPlan apply(LogicalPlan plan) {
    List<String> names = names();
    if (plan.isStreaming() || names.isEmpty()) {
      return plan;
    }
    return Catalyst.replace(
        plan, one -> one instanceof Aggregate ? answered((Aggregate) one, plan, names) : null);
  }

  private List<String> names() {
    List<String> found = new ArrayList<>();
    for (String one : setting(TABLES, "").split(",")) {
      if (!one.isBlank()) {
        found.add(one.trim());
      }
    }
    return found;
  }

  private String setting(String key, String usual) {
    return session.sessionState().conf().getConfString(key, usual);
  }

  /** The aggregate's answer from the smallest that gives one; null where none does. */
  private LogicalPlan answered(Aggregate aggregate, LogicalPlan whole, List<String> names) {
    try {
      if (setting("spark.wap.branch", null) != null) {
        throw new Unfit("the session reads a branch by spark.wap.branch");
      }
      Query<Source> query = new Query<>(aggregate, Source::of);
      LogicalPlan found = null;
      Candidate best = null;
      for (Candidate one : candidates(names)) {
        if (found != null) {
          long groups = one.kept.groups;
          boolean hasMore = best.kept.groups < groups && groups < Long.MAX_VALUE;
          unused(one.name, best.name + " answers" + (hasMore ? " with fewer rows" : ""));
          continue;
        }
        found = answer(query, whole, one);
        best = one;
      }
      return found;
    } catch (Unfit e) {
      Answers.say("No materialization is used: " + e.getMessage());
    } catch (Exception | LinkageError e) {
      // Scala declares no exceptions, and a query must not fail where it could do without us.
      Answers.say("No materialization is used: " + e);
      LOG.warn("A query is answered without materializations", e);
    }
    return null;
  }

  /** A materialization that may answer. */
  private static final class Candidate {
    final String name;
    final CatalogTable table;
    final Kept kept;

    Candidate(String name, CatalogTable table, Kept kept) {
      this.name = name;
      this.table = table;
      this.kept = kept;
    }
  }

  /** Those that can be read, the smallest first, and of equal ones as they are named. */
  private List<Candidate> candidates(List<String> names) {
    List<Candidate> found = new ArrayList<>();
    for (String name : names) {
      try {
        CatalogTable table = Kept.table(session, name);
        found.add(new Candidate(name, table, Kept.of(session, table)));
      } catch (Unfit e) {
        unused(name, e.getMessage());
      }
    }
    found.sort(Comparator.comparingLong(one -> one.kept.groups));
    return found;
  }

  private static void unused(String name, String why) {
    String reason = String.format("Materialization %s is not used: %s", name, why);
    Answers.say(reason);
    LOG.info("{}", reason);
  }

  private LogicalPlan answer(Query<Source> query, LogicalPlan whole, Candidate one) {
    try {
      Kept kept = one.kept;
      KeptJoins joins = new KeptJoins(query, kept);
      String age = age(kept, joins, whole);
      check(kept);
      LogicalPlan stored = kept.plan(session, one.table);
      LogicalPlan plan = new KeptAnswer(session, query, joins, kept, stored).plan();
      String note = String.format("Materialization %s answers: it has %s", one.name, age);
      Answers.say(note);
      LOG.info("{}", note);
      return plan;
    } catch (Unfit e) {
      unused(one.name, e.getMessage());
      return null;
    }
  }

  /** How old it is in words. */
  private String age(Kept kept, KeptJoins joins, LogicalPlan whole) {
    Source behind = null;
    for (String alias : kept.parts.keySet()) {
      if (!joins.source(alias).commit.equals(kept.parts.get(alias).commit)) {
        behind = joins.source(alias);
      }
    }
    if (behind == null) {
      return "the newest commits";
    }
    long most = mostLag();
    long lag = System.currentTimeMillis() / 1000 - kept.askedAt;
    if (most == 0 || kept.askedAt == 0 || lag < 0 || lag > most) {
      throw new Unfit(
          "%s was written to since it was computed%s, and %d s are allowed",
          behind.name, kept.askedAt == 0 ? "" : String.format(", asked for %d s ago", lag), most);
    }
    for (String alias : kept.parts.keySet()) {
      checkAlone(joins.source(alias), whole);
    }
    return String.format("what was there %d s ago", lag);
  }

  private long mostLag() {
    String said = setting(MOST_LAG, "0");
    try {
      long most = Long.parseLong(said.trim());
      if (most >= 0) {
        return most;
      }
    } catch (NumberFormatException e) {
      // Said below, as for a negative number.
    }
    throw new Unfit("%s must be a number of seconds, 0 or more: %s", MOST_LAG, said);
  }

  /** Refuse to read one table at two commits in one query. */
  private static void checkAlone(Source source, LogicalPlan whole) {
    if (!source.isPlain) {
      throw new Unfit("%s is read at a commit of the query's own", source.name);
    }
    boolean hasOthers = whole instanceof Subquery || !whole.subqueriesAll().isEmpty();
    int n = 0;
    for (LogicalPlan leaf : Catalyst.list(whole.collectLeaves())) {
      hasOthers |=
          leaf instanceof DataSourceV2Relation && Part.isOf(((DataSourceV2Relation) leaf).table());
      Source one = hasOthers ? null : Source.of(leaf);
      n += one != null && one.isOf(source.id) ? 1 : 0;
    }
    if (hasOthers || n != 1) {
      throw new Unfit("%s may be read at another place of the query, at another commit", source.name);
    }
  }

  private void check(Kept kept) {
    String zone = session.sessionState().conf().sessionLocalTimeZone();
    if (kept.isOfTimes() && !zone.equals(kept.timeZone)) {
      throw new Unfit("it was computed in the time zone %s", kept.timeZone);
    }
    if (session.sessionState().conf().ansiEnabled() && !kept.filters.isEmpty()) {
      throw new Unfit("it has conditions, which may fail in ANSI mode and did not in it");
    }
  }
}
