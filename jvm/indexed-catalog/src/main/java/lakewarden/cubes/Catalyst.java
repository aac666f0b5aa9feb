package lakewarden.cubes;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Cast;
import org.apache.spark.sql.catalyst.expressions.ExprId;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.TimeZoneAwareExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Complete$;
import org.apache.spark.sql.catalyst.expressions.EvalMode;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.Metadata;
import org.apache.spark.sql.types.ShortType;
import scala.Option;
import scala.collection.JavaConverters;
import scala.collection.Seq;

/** Catalyst's trees as Java handles them. */
public final class Catalyst {
  private Catalyst() {}

  static <T> Seq<T> seq(List<T> list) {
    return JavaConverters.asScalaBufferConverter(list).asScala().toList();
  }

  public static <T> List<T> list(Seq<T> seq) {
    return JavaConverters.seqAsJavaListConverter(seq).asJava();
  }

  static <T, R> List<R> map(List<T> list, Function<T, R> change) {
    List<R> found = new ArrayList<>(list.size());
    list.forEach(one -> found.add(change.apply(one)));
    return found;
  }

  /** Replace from the top; where `change` gives null, the children are looked at. */
  static Expression replace(Expression tree, Function<Expression, Expression> change) {
    Expression changed = change.apply(tree);
    if (changed != null) {
      return changed;
    }
    List<Expression> children = list(tree.children());
    List<Expression> fresh = new ArrayList<>(children.size());
    boolean same = true;
    for (Expression child : children) {
      Expression one = replace(child, change);
      same &= one == child;
      fresh.add(one);
    }
    return same ? tree : (Expression) tree.withNewChildren(seq(fresh));
  }

  static LogicalPlan replace(LogicalPlan tree, Function<LogicalPlan, LogicalPlan> change) {
    LogicalPlan changed = change.apply(tree);
    if (changed != null) {
      return changed;
    }
    List<LogicalPlan> children = list(tree.children());
    List<LogicalPlan> fresh = new ArrayList<>(children.size());
    boolean same = true;
    for (LogicalPlan child : children) {
      LogicalPlan one = replace(child, change);
      same &= one == child;
      fresh.add(one);
    }
    return same ? tree : (LogicalPlan) tree.withNewChildren(seq(fresh));
  }

  public static void each(Expression tree, Consumer<Expression> seen) {
    seen.accept(tree);
    list(tree.children()).forEach(child -> each(child, seen));
  }

  public static boolean any(Expression tree, Predicate<Expression> wanted) {
    return wanted.test(tree) || list(tree.children()).stream().anyMatch(one -> any(one, wanted));
  }

  public static List<Expression> conjuncts(Expression condition) {
    if (!(condition instanceof And)) {
      return List.of(condition);
    }
    List<Expression> all = new ArrayList<>(conjuncts(((And) condition).left()));
    all.addAll(conjuncts(((And) condition).right()));
    return all;
  }

  static Alias alias(Expression child, String name) {
    return alias(child, name, NamedExpression.newExprId());
  }

  static Alias alias(Expression child, String name, ExprId id) {
    return new Alias(child, name, id, seq(List.of()), Option.<Metadata>empty(), seq(List.of()));
  }

  static AttributeReference attribute(String name, DataType type, boolean nullable, String of) {
    return new AttributeReference(
        name, type, nullable, Metadata.empty(), NamedExpression.newExprId(), seq(List.of(of)));
  }

  static AggregateExpression aggregate(AggregateFunction function, Option<Expression> filter) {
    return aggregate(function, filter, false);
  }

  static AggregateExpression aggregate(
      AggregateFunction function, Option<Expression> filter, boolean distinct) {
    return new AggregateExpression(
        function, Complete$.MODULE$, distinct, filter, NamedExpression.newExprId());
  }

  static Expression cast(Expression child, DataType type) {
    return child.dataType().equals(type)
        ? child
        : new Cast(child, type, Option.<String>empty(), EvalMode.LEGACY());
  }

  /** Whether the session's time zone makes a difference to an expression itself. */
  public static boolean isZoned(Expression one) {
    return one instanceof Cast
        ? ((Cast) one).needsTimeZone()
        : one instanceof TimeZoneAwareExpression;
  }

  static boolean isIntegral(DataType type) {
    return type instanceof ByteType
        || type instanceof ShortType
        || type instanceof IntegerType
        || type instanceof LongType;
  }

  static boolean isFloat(DataType type) {
    return type instanceof FloatType || type instanceof DoubleType;
  }

  /** The attribute, also under a cast of integers to wider ones; null where it is none. */
  static Attribute bare(Expression expression) {
    if (expression instanceof Attribute) {
      return (Attribute) expression;
    }
    if (expression instanceof Cast) {
      Expression child = ((Cast) expression).child();
      boolean widened =
          isIntegral(child.dataType())
              && isIntegral(expression.dataType())
              && child.dataType().defaultSize() < expression.dataType().defaultSize();
      return widened ? bare(child) : null;
    }
    return null;
  }
}
