package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.OuterReference;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.plans.Cross$;
import org.apache.spark.sql.catalyst.plans.Inner$;
import org.apache.spark.sql.catalyst.plans.JoinType;
import org.apache.spark.sql.catalyst.plans.LeftOuter$;
import org.apache.spark.sql.catalyst.plans.RightOuter$;
import org.apache.spark.sql.catalyst.plans.logical.Aggregate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.Join;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;

/** What lies under an aggregate, flat: tables, conditions over their columns, and what names stand for. */
final class Query<L> {
  final Aggregate aggregate;
  final List<L> leaves = new ArrayList<>();

  /** What each row of the input has passed. */
  final List<Expression> conditions = new ArrayList<>();

  /** Conditions of outer joins and of their optional sides: they take away no row of the other side. */
  final List<Expression> optional = new ArrayList<>();

  /** Tables of which an outer join gives nulls where it finds no row. */
  private final List<L> nullable = new ArrayList<>();

  private final Map<ExprId, Expression> names = new HashMap<>();

  private final Function<LogicalPlan, L> reader;

  /** `reader` makes of a plan the table that it reads; null where it reads none. */
  Query(Aggregate aggregate, Function<LogicalPlan, L> reader) {
    this.aggregate = aggregate;
    this.reader = reader;
    walk(aggregate.child(), conditions);
    Catalyst.list(aggregate.aggregateExpressions()).forEach(one -> sound((Expression) one));
  }

  private void walk(LogicalPlan plan, List<Expression> passed) {
    if (plan instanceof Project) {
      walk(((Project) plan).child(), passed);
      for (NamedExpression one : Catalyst.list(((Project) plan).projectList())) {
        if (one instanceof Alias) {
          names.put(one.exprId(), over(sound(((Alias) one).child())));
        }
      }
    } else if (plan instanceof Filter) {
      walk(((Filter) plan).child(), passed);
      add(((Filter) plan).condition(), passed);
    } else if (plan instanceof Join) {
      join((Join) plan, passed);
    } else {
      L leaf = reader.apply(plan);
      if (leaf == null) {
        throw new Unfit("there is %s below the aggregate", plan.nodeName());
      }
      leaves.add(leaf);
      if (passed == optional) {
        nullable.add(leaf);
      }
    }
  }

  private void join(Join join, List<Expression> passed) {
    JoinType type = join.joinType();
    List<Expression> on = passed;
    if (type == Inner$.MODULE$ || type == Cross$.MODULE$) {
      walk(join.left(), passed);
      walk(join.right(), passed);
    } else if (type == LeftOuter$.MODULE$ || type == RightOuter$.MODULE$) {
      on = optional;
      walk(join.left(), type == LeftOuter$.MODULE$ ? passed : optional);
      walk(join.right(), type == LeftOuter$.MODULE$ ? optional : passed);
    } else {
      throw new Unfit("there is a %s join below the aggregate", type.sql());
    }
    if (join.condition().isDefined()) {
      add(join.condition().get(), on);
    }
  }

  private void add(Expression condition, List<Expression> to) {
    Catalyst.conjuncts(condition).forEach(one -> to.add(over(sound(one))));
  }

  private static Expression sound(Expression expression) {
    if (!expression.deterministic()) {
      throw new Unfit("%s is not deterministic", expression.sql());
    }
    if (Catalyst.any(
        expression, one -> one instanceof PlanExpression || one instanceof OuterReference)) {
      throw new Unfit("there is a subquery in a condition or an expression");
    }
    return expression;
  }

  /** The expression over columns of tables. */
  Expression over(Expression expression) {
    return Catalyst.replace(
        expression,
        one -> one instanceof Attribute ? names.get(((Attribute) one).exprId()) : null);
  }

  /** Whether rows may come of an outer join that are none of this table. */
  boolean isNullable(L leaf) {
    return nullable.contains(leaf);
  }
}
