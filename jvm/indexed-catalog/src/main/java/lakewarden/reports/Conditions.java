package lakewarden.reports;

import java.util.ArrayList;
import java.util.List;
import lakewarden.cubes.Catalyst;
import org.apache.spark.sql.catalyst.expressions.And;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Contains;
import org.apache.spark.sql.catalyst.expressions.DynamicPruning;
import org.apache.spark.sql.catalyst.expressions.EndsWith;
import org.apache.spark.sql.catalyst.expressions.EqualNullSafe;
import org.apache.spark.sql.catalyst.expressions.EqualTo;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GreaterThan;
import org.apache.spark.sql.catalyst.expressions.GreaterThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.InSubquery;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;
import org.apache.spark.sql.catalyst.expressions.LessThan;
import org.apache.spark.sql.catalyst.expressions.LessThanOrEqual;
import org.apache.spark.sql.catalyst.expressions.Like;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Lower;
import org.apache.spark.sql.catalyst.expressions.Not;
import org.apache.spark.sql.catalyst.expressions.Or;
import org.apache.spark.sql.catalyst.expressions.PlanExpression;
import org.apache.spark.sql.catalyst.expressions.StartsWith;

/** Reads Spark's conditions as filters of columns, whatever their constants are. */
final class Conditions {
  private final Origins origins;

  Conditions(Origins origins) {
    this.origins = origins;
  }

  List<Filter> filters(Expression node) {
    if (node instanceof And) {
      List<Filter> both = new ArrayList<>(filters(((And) node).left()));
      both.addAll(filters(((And) node).right()));
      return both;
    }
    if (node instanceof Or) {
      List<List<Filter>> branches = new ArrayList<>();
      branches(node, branches);
      return Filter.either(branches);
    }
    if (node instanceof Not) {
      return Filter.negated(filters(((Not) node).child()));
    }
    List<Expression> children = Catalyst.list(node.children());
    if (node instanceof Attribute) {
      // A boolean column by itself asks for what is true.
      return subject(node, Filter.EQUAL, node);
    }
    if (node instanceof IsNull || node instanceof IsNotNull) {
      return subject(children.get(0), Filter.NULL, node);
    }
    if (node instanceof InSubquery && ((InSubquery) node).values().size() == 1) {
      return subject(((InSubquery) node).values().head(), Filter.DYNAMIC, node);
    }
    if (node instanceof DynamicPruning) {
      return subject(children.isEmpty() ? node : children.get(0), Filter.DYNAMIC, node);
    }
    if (node instanceof In || node instanceof InSet) {
      return listed(node, children);
    }
    if (isText(node)) {
      Expression text = children.get(0);
      text = text instanceof Lower ? ((Lower) text).child() : text;
      return subject(text, textKind(node, children.get(1)), node);
    }
    if (isRange(node) || node instanceof EqualTo || node instanceof EqualNullSafe) {
      return compared(node, children.get(0), children.get(1));
    }
    return others(node);
  }

  private void branches(Expression node, List<List<Filter>> into) {
    if (node instanceof Or) {
      branches(((Or) node).left(), into);
      branches(((Or) node).right(), into);
    } else {
      into.add(filters(node));
    }
  }

  private List<Filter> listed(Expression node, List<Expression> children) {
    if (children.stream().skip(1).anyMatch(one -> !isConstant(one))) {
      return others(node);
    }
    boolean isOne =
        node instanceof In
            ? children.size() == 2
            : ((InSet) node).hset().size() == 1;
    return subject(children.get(0), isOne ? Filter.EQUAL : Filter.IN, node);
  }

  private List<Filter> compared(Expression node, Expression left, Expression right) {
    boolean isLeft = origins.plain(left) != null;
    Expression column = isLeft ? left : right;
    Expression other = isLeft ? right : left;
    if (Catalyst.any(other, one -> one instanceof PlanExpression)) {
      return subject(column, Filter.DYNAMIC, node);
    }
    if (!isConstant(other)) {
      return others(node);
    }
    return subject(column, isRange(node) ? Filter.RANGE : Filter.EQUAL, node);
  }

  /** The filter of a column; where it is none by itself, what the condition names besides. */
  private List<Filter> subject(Expression column, String kind, Expression node) {
    Origins.Column found = origins.plain(column);
    return found == null
        ? others(node)
        : List.of(new Filter(found.owner, found.name, kind));
  }

  private List<Filter> others(Expression node) {
    List<Filter> found = new ArrayList<>();
    for (Origins.Column one : origins.columns(node)) {
      found.add(new Filter(one.owner, one.name, Filter.OTHER));
    }
    return found;
  }

  private static boolean isConstant(Expression node) {
    return node.references().isEmpty() && !Catalyst.any(node, PlanExpression.class::isInstance);
  }

  private static boolean isRange(Expression node) {
    return node instanceof LessThan
        || node instanceof LessThanOrEqual
        || node instanceof GreaterThan
        || node instanceof GreaterThanOrEqual;
  }

  private static boolean isText(Expression node) {
    return node instanceof Like
        || node instanceof StartsWith
        || node instanceof EndsWith
        || node instanceof Contains;
  }

  private static String textKind(Expression node, Expression said) {
    if (!isConstant(said)) {
      return Filter.OTHER;
    }
    if (!(node instanceof Like)) {
      return node instanceof StartsWith ? Filter.PREFIX : Filter.CONTAINS;
    }
    if (!(said instanceof Literal) || ((Literal) said).value() == null) {
      return Filter.OTHER;
    }
    String pattern = ((Literal) said).value().toString();
    if (pattern.indexOf('%') < 0 && pattern.indexOf('_') < 0) {
      return Filter.EQUAL;
    }
    boolean isFixed = pattern.charAt(0) != '%' && pattern.charAt(0) != '_';
    return isFixed && pattern.replaceAll("%+$", "").indexOf('%') < 0
        ? Filter.PREFIX
        : Filter.CONTAINS;
  }
}
