package lakewarden.reports;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import lakewarden.cubes.Catalyst;
import lakewarden.cubes.HudiRead;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.LeftAnti$;
import org.apache.spark.sql.catalyst.plans.LeftSemi$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationDef;
import org.apache.spark.sql.catalyst.plans.logical.CTERelationRef;
import org.apache.spark.sql.catalyst.plans.logical.Expand;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.SetOperation;
import org.apache.spark.sql.catalyst.plans.logical.Union;
import org.apache.spark.sql.catalyst.plans.logical.WithCTE;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation;
import org.apache.spark.sql.internal.SQLConf;

/**
 * What a query asks of each table: filters, groups, aggregates and keys of joins, by the SELECT that
 * they are of. Subqueries and CTEs without groups of their own are part of the SELECT around them.
 *
 * <p>It is read from the analyzed plan: the optimizer takes distinct aggregates apart, and cubes
 * take the place of tables.
 */
final class QuerySelects {
  private static final int MOST_USES = 200;
  private static final int MOST_NODES = 20_000;
  private static final int MOST_DEPTH = 600;

  private static final String BESIDE = "reads a subquery, or what is no table of the lake, beside it";
  private static final String SUBQUERY = "has a subquery in a condition";
  private static final String LOOKED_UP = "is only looked up by a semi or anti join";
  private static final String CHOSEN = "reads a Hudi table not as it is now";

  /** One place at which a table is read. */
  static final class Use {
    final TableName name;
    final int select;
    final Set<Filter> filters = new LinkedHashSet<>();
    final Set<String> groups = new LinkedHashSet<>();
    final Set<List<String>> aggregates = new LinkedHashSet<>();
    final Set<List<String>> joins = new LinkedHashSet<>();
    String unfit = "";

    private Use(TableName name, int select) {
      this.name = name;
      this.select = select;
    }
  }

  private final List<Use> uses = new ArrayList<>();
  private final Origins origins;
  private final Conditions conditions;
  private final Map<Long, LogicalPlan> definitions = new HashMap<>();
  private final Map<Integer, String> unfit = new HashMap<>();
  private final Set<Integer> beside = new HashSet<>();
  private int selects;
  private int nodes;

  private QuerySelects(SQLConf conf) {
    origins = new Origins(new DateTerms(conf));
    conditions = new Conditions(origins);
  }

  static List<Use> of(LogicalPlan analyzed, SQLConf conf) {
    QuerySelects found = new QuerySelects(conf);
    found.read(analyzed, found.selects++, 0);
    found.separate();
    for (Use use : found.uses) {
      use.unfit =
          found.beside.contains(use.select)
              ? BESIDE
              : found.unfit.getOrDefault(use.select, "");
    }
    return found.uses;
  }

  private void read(LogicalPlan plan, int select, int depth) {
    if (++nodes > MOST_NODES || depth > MOST_DEPTH) {
      throw new PlanScans.TooLarge(
          "The plan has more than " + MOST_NODES + " nodes, or too many levels.");
    }
    if (plan instanceof WithCTE) {
      for (CTERelationDef one : Catalyst.list(((WithCTE) plan).cteDefs())) {
        definitions.put(one.id(), one.child());
      }
      read(((WithCTE) plan).plan(), select, depth + 1);
      return;
    }
    if (plan instanceof CTERelationRef) {
      defined((CTERelationRef) plan, select, depth);
      return;
    }
    if (plan instanceof DataSourceV2Relation || TableName.isHudi(plan)) {
      table(plan, select);
      return;
    }
    boolean isApart = plan instanceof Aggregate || isSet(plan);
    if (isApart) {
      beside.add(select);
    }
    int within = plan instanceof Aggregate ? selects++ : select;
    for (LogicalPlan child : Catalyst.list(plan.children())) {
      read(child, isSet(plan) ? selects++ : within, depth + 1);
    }
    for (Object inner : Catalyst.list(plan.subqueries())) {
      read((LogicalPlan) inner, selects++, depth + 1);
    }
    if (plan.children().isEmpty()) {
      beside.add(select);
    }
    expressions(plan, within);
  }

  private static boolean isSet(LogicalPlan plan) {
    return plan instanceof Union || plan instanceof SetOperation;
  }

  private void defined(CTERelationRef ref, int select, int depth) {
    LogicalPlan plan = definitions.get(ref.cteId());
    if (plan == null) {
      beside.add(select);
      return;
    }
    read(plan, select, depth + 1);
    List<Attribute> output = Catalyst.list(ref.output());
    List<Attribute> inner = Catalyst.list(plan.output());
    for (int i = 0; i < Math.min(output.size(), inner.size()); i++) {
      origins.derive(output.get(i), inner.get(i));
    }
  }

  /** Each catalog is told of its own tables: those of another are none of the lake. */
  private void separate() {
    Map<Integer, String> catalogs = new HashMap<>();
    for (Use use : uses) {
      if (!use.name.catalog.equals(catalogs.computeIfAbsent(use.select, none -> use.name.catalog))) {
        beside.add(use.select);
      }
    }
  }

  private void table(LogicalPlan relation, int select) {
    TableName name = TableName.asked(relation);
    if (name == null) {
      beside.add(select);
      return;
    }
    if (uses.size() == MOST_USES) {
      throw new PlanScans.TooLarge(
          "The query reads tables at more than " + MOST_USES + " places.");
    }
    if (relation instanceof LogicalRelation && !HudiRead.isPlain((LogicalRelation) relation)) {
      unfit.putIfAbsent(select, CHOSEN);
    }
    Use use = new Use(name, select);
    uses.add(use);
    for (Attribute one : Catalyst.list(relation.output())) {
      origins.add(one, use);
    }
  }

  private void expressions(LogicalPlan plan, int select) {
    if (plan instanceof Project) {
      Catalyst.list(((Project) plan).projectList()).forEach(one -> derive((Expression) one));
    } else if (plan instanceof Expand) {
      expand((Expand) plan);
    } else if (plan instanceof Aggregate) {
      aggregate((Aggregate) plan, select);
    } else if (plan instanceof org.apache.spark.sql.catalyst.plans.logical.Filter) {
      condition(
          ((org.apache.spark.sql.catalyst.plans.logical.Filter) plan).condition(), select);
    } else if (plan instanceof Join) {
      join((Join) plan, select);
    } else if (isSet(plan)) {
      // Named as those of the first branch, but of all.
      Catalyst.list(plan.output()).forEach(origins::forget);
    }
  }

  private void derive(Expression named) {
    if (named instanceof Alias) {
      origins.derive(((Alias) named).toAttribute(), ((Alias) named).child());
    }
  }

  /** The rows of GROUPING SETS: each column as it is, or null. */
  private void expand(Expand plan) {
    List<Attribute> output = Catalyst.list(plan.output());
    for (int i = 0; i < output.size(); i++) {
      for (scala.collection.Seq<Expression> row : Catalyst.list(plan.projections())) {
        if (row.apply(i) instanceof Attribute) {
          origins.derive(output.get(i), row.apply(i));
          break;
        }
      }
    }
  }

  private void join(Join plan, int select) {
    if (plan.joinType() == LeftSemi$.MODULE$ || plan.joinType() == LeftAnti$.MODULE$) {
      unfit.putIfAbsent(select, LOOKED_UP);
    }
    if (plan.condition().isDefined()) {
      condition(plan.condition().get(), select);
    }
  }

  private void condition(Expression condition, int select) {
    if (Catalyst.any(condition, PlanExpression.class::isInstance)) {
      unfit.putIfAbsent(select, SUBQUERY);
    }
    for (Expression one : Catalyst.conjuncts(condition)) {
      if (!(one instanceof EqualTo) || !isPair((EqualTo) one)) {
        conditions.filters(one).forEach(filter -> ((Use) filter.owner).filters.add(filter));
      }
    }
  }

  private boolean isPair(EqualTo equal) {
    Origins.Column left = origins.plain(equal.left());
    Origins.Column right = origins.plain(equal.right());
    if (left == null || right == null || left.owner == right.owner) {
      return false;
    }
    pair(left, right);
    pair(right, left);
    return true;
  }

  private static void pair(Origins.Column one, Origins.Column other) {
    Use use = (Use) one.owner;
    use.joins.add(List.of(one.name, ((Use) other.owner).name.inLake(), other.name));
  }

  private void aggregate(Aggregate plan, int select) {
    for (Expression one : Catalyst.list(plan.groupingExpressions())) {
      Origins.Column term = origins.term(one);
      if (term != null) {
        ((Use) term.owner).groups.add(term.name);
        continue;
      }
      for (Origins.Column column : origins.columns(one)) {
        ((Use) column.owner).groups.add(column.name);
      }
    }
    AggregateTerms terms = new AggregateTerms(origins);
    for (Object one : Catalyst.list(plan.aggregateExpressions())) {
      Catalyst.each(
          (Expression) one,
          part -> {
            if (part instanceof AggregateExpression) {
              terms.add((AggregateExpression) part, first(select));
            }
          });
    }
    // What stands above may be grouped or filtered by columns, not by what was summed up.
    Catalyst.list(plan.aggregateExpressions()).forEach(one -> above((Expression) one));
  }

  private void above(Expression named) {
    if (named instanceof Alias) {
      boolean isSum = Catalyst.any(named, AggregateExpression.class::isInstance);
      if (isSum) {
        origins.forget(((Alias) named).toAttribute());
      } else {
        derive(named);
      }
    }
  }

  /** The table that stands first in a SELECT; all rows are asked of it. */
  private Use first(int select) {
    return uses.stream().filter(one -> one.select == select).findFirst().orElse(null);
  }
}
