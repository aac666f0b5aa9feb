package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.util.TypeUtils;
import org.apache.spark.sql.types.AtomicType;
import scala.collection.JavaConverters;
import scala.math.Ordering;

/**
 * Whether a query's conditions leave only rows that a stored aggregate holds: each of its conditions
 * is one of the query's, or follows from a narrower range or list of the same expression.
 */
final class Implied {
  private Implied() {}

  /** The query's conditions that are still to be asked of the stored rows. */
  static List<Expression> rest(List<Expression> wanted, List<Expression> asked, Joined joins) {
    Set<Expression> held = new HashSet<>();
    Set<Expression> known =
        asked.stream().map(one -> form(one, joins)).collect(Collectors.toSet());
    List<Passing> narrow = new ArrayList<>();
    for (Expression one : asked) {
      Passing passing = Passing.of(one, joins);
      if (passing != null) {
        narrow.add(passing);
      }
    }
    for (Expression one : wanted) {
      Expression form = form(one, joins);
      Passing wide = Passing.of(one, joins);
      if (known.contains(form)) {
        held.add(form);
      } else if (!Literal.TrueLiteral().equals(one)
          && !Conditions.isImplied(one, asked)
          && (wide == null || narrow.stream().noneMatch(each -> each.isWithin(wide)))) {
        throw new Unfit(
            "it holds only rows with %s, and the query may need others", one.sql());
      }
    }
    return asked.stream()
        .filter(one -> !held.contains(form(one, joins)))
        .collect(Collectors.toList());
  }

  private static Expression form(Expression one, Joined joins) {
    return joins.unified(one).canonicalized();
  }

  /** What of an expression's values passes a comparison with constants of its own type. */
  private static final class Passing {
    private final Expression of;
    private final Ordering<Object> order;
    private Object low;
    private Object high;
    private boolean isLowIn;
    private boolean isHighIn;
    private List<Object> values;

    private Passing(Expression of) {
      this.of = of;
      order = TypeUtils.getInterpretedOrdering(of.dataType());
    }

    /** Null for what is no such comparison. */
    static Passing of(Expression condition, Joined joins) {
      Expression one = form(condition, joins);
      if (one instanceof BinaryComparison) {
        Expression left = ((BinaryComparison) one).left();
        Expression right = ((BinaryComparison) one).right();
        return isConstant(left)
            ? compared(one, right, left, true)
            : compared(one, left, right, false);
      }
      if (one instanceof In) {
        return listed(((In) one).value(), Catalyst.list(((In) one).list()));
      }
      if (one instanceof InSet && ((InSet) one).child().dataType() instanceof AtomicType) {
        Passing found = new Passing(((InSet) one).child());
        found.values = new ArrayList<>(JavaConverters.setAsJavaSetConverter(((InSet) one).hset()).asJava());
        return found.values.contains(null) ? null : found;
      }
      return null;
    }

    private static boolean isConstant(Expression one) {
      return one instanceof Literal && ((Literal) one).value() != null;
    }

    private static Passing compared(
        Expression one, Expression of, Expression with, boolean isSwapped) {
      if (!isConstant(with)
          || !with.dataType().equals(of.dataType())
          || !(of.dataType() instanceof AtomicType)) {
        return null;
      }
      Passing found = new Passing(of);
      Object value = ((Literal) with).value();
      if (one instanceof EqualTo) {
        found.values = List.of(value);
      } else if (one instanceof LessThan || one instanceof LessThanOrEqual) {
        found.end(value, one instanceof LessThanOrEqual, isSwapped);
      } else if (one instanceof GreaterThan || one instanceof GreaterThanOrEqual) {
        found.end(value, one instanceof GreaterThanOrEqual, !isSwapped);
      } else {
        return null;
      }
      return found;
    }

    private void end(Object value, boolean isIn, boolean isLow) {
      if (isLow) {
        low = value;
        isLowIn = isIn;
      } else {
        high = value;
        isHighIn = isIn;
      }
    }

    private static Passing listed(Expression of, List<Expression> list) {
      boolean known =
          of.dataType() instanceof AtomicType
              && list.stream()
                  .allMatch(one -> isConstant(one) && one.dataType().equals(of.dataType()));
      if (!known) {
        return null;
      }
      Passing found = new Passing(of);
      found.values =
          list.stream().map(one -> ((Literal) one).value()).collect(Collectors.toList());
      return found;
    }

    /** Whether whatever passes this passes the other as well. */
    boolean isWithin(Passing wide) {
      if (!of.equals(wide.of)) {
        return false;
      }
      if (values != null) {
        return values.stream().allMatch(wide::passes);
      }
      return wide.values == null
          && isAbove(low, isLowIn, wide)
          && isBelow(high, isHighIn, wide);
    }

    private boolean passes(Object value) {
      if (values != null) {
        return values.stream().anyMatch(one -> order.compare(one, value) == 0);
      }
      return isAbove(value, true, this) && isBelow(value, true, this);
    }

    private boolean isAbove(Object end, boolean isIn, Passing wide) {
      if (wide.low == null || end == null) {
        return wide.low == null;
      }
      int compared = order.compare(end, wide.low);
      return compared > 0 || compared == 0 && (wide.isLowIn || !isIn);
    }

    private boolean isBelow(Object end, boolean isIn, Passing wide) {
      if (wide.high == null || end == null) {
        return wide.high == null;
      }
      int compared = order.compare(end, wide.high);
      return compared < 0 || compared == 0 && (wide.isHighIn || !isIn);
    }
  }
}
