package lakewarden.cubes;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.logical.Union;

/** The plan that gives an aggregate's rows from a stored one, and from rows that are in none. */
abstract class Answer {
  final Columns columns;

  /** What is asked of the stored rows. */
  final List<Expression> passed = new ArrayList<>();

  private final Query<?> query;
  private final List<Expression> groups = new ArrayList<>();
  private final Map<Expression, State> states = new LinkedHashMap<>();

  Answer(Query<?> query, Joined joins, Columns columns, Exactness exact) {
    this.query = query;
    this.columns = columns;
    Conditions.over(query, joins, columns, passed);
    for (Expression group : Catalyst.list(query.aggregate.groupingExpressions())) {
      groups.add(columns.overDimensions(query.over(group)));
    }
    States made = new States(query, columns, exact, columns.areAll(groups));
    for (NamedExpression one : Catalyst.list(query.aggregate.aggregateExpressions())) {
      Catalyst.each(
          (Expression) one,
          part -> {
            if (part instanceof AggregateExpression) {
              states.computeIfAbsent(
                  part.canonicalized(), same -> made.of((AggregateExpression) part));
            }
          });
    }
  }

  LogicalPlan plan() {
    LogicalPlan parts = stored();
    LogicalPlan rest = rest();
    if (rest != null) {
      parts = new Union(Catalyst.seq(List.of(parts, fresh(rest))), false, false);
    }
    List<Attribute> read = Catalyst.list(parts.output());
    List<Attribute> grouped = read.subList(0, groups.size());
    List<NamedExpression> merged = new ArrayList<>(grouped);
    Map<Expression, Expression> finished = new LinkedHashMap<>();
    int at = groups.size();
    for (Map.Entry<Expression, State> one : states.entrySet()) {
      State state = one.getValue();
      List<Attribute> own = new ArrayList<>();
      for (AggregateExpression aggregate :
          state.merge(read.subList(at, at + state.columns.size()))) {
        Alias named = Catalyst.alias(aggregate, "m" + merged.size());
        merged.add(named);
        own.add(named.toAttribute());
      }
      at += state.columns.size();
      finished.put(one.getKey(), state.finish(own));
    }
    LogicalPlan aggregate =
        new Aggregate(
            Catalyst.seq(new ArrayList<Expression>(grouped)), Catalyst.seq(merged), parts);
    return new Project(Catalyst.seq(outputs(grouped, finished)), aggregate);
  }

  /** What the query's aggregate gives, under the names that the plan above knows. */
  private List<NamedExpression> outputs(
      List<Attribute> grouped, Map<Expression, Expression> finished) {
    List<Expression> asked = Catalyst.list(query.aggregate.groupingExpressions());
    List<NamedExpression> outputs = new ArrayList<>();
    for (NamedExpression one : Catalyst.list(query.aggregate.aggregateExpressions())) {
      Expression child = one instanceof Alias ? ((Alias) one).child() : (Expression) one;
      Expression given =
          Catalyst.replace(
              child,
              part -> {
                Expression same = part.canonicalized();
                if (part instanceof AggregateExpression) {
                  return finished.get(same);
                }
                for (int i = 0; i < asked.size(); i++) {
                  if (same.equals(asked.get(i).canonicalized())) {
                    return grouped.get(i);
                  }
                }
                if (part instanceof Attribute) {
                  throw new Unfit("%s is neither grouped nor aggregated", part.sql());
                }
                return null;
              });
      outputs.add(
          one instanceof Alias
              ? ((Alias) one).copy(
                  given,
                  one.name(),
                  one.exprId(),
                  one.qualifier(),
                  ((Alias) one).explicitMetadata(),
                  ((Alias) one).nonInheritableMetadataKeys())
              : Catalyst.alias(given, one.name(), one.exprId()));
    }
    return outputs;
  }

  private LogicalPlan stored() {
    List<NamedExpression> given = new ArrayList<>();
    groups.forEach(one -> given.add(Catalyst.alias(one, "g" + given.size())));
    states
        .values()
        .forEach(
            state ->
                state.columns.forEach(
                    one -> given.add(Catalyst.alias(one.ofCube, "s" + given.size()))));
    return new Project(Catalyst.seq(given), rows());
  }

  /** The stored rows that `passed` lets through. */
  abstract LogicalPlan rows();

  /** What lies under the query's aggregate, of those rows alone that are not stored; null: all are. */
  abstract LogicalPlan rest();

  private LogicalPlan fresh(LogicalPlan rest) {
    List<Expression> by =
        new ArrayList<>(Catalyst.list(query.aggregate.groupingExpressions()));
    List<NamedExpression> given = new ArrayList<>();
    by.forEach(one -> given.add(Catalyst.alias(one, "g" + given.size())));
    for (State state : states.values()) {
      for (State.Column one : state.columns) {
        given.add(Catalyst.alias(one.fresh, "s" + given.size()));
        if (one.isGrouped()) {
          by.add(one.fresh);
        }
      }
    }
    return new Aggregate(Catalyst.seq(by), Catalyst.seq(given), rest);
  }
}
