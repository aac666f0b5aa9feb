package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.BinaryComparison;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.In;
import org.apache.spark.sql.catalyst.expressions.InSet;
import org.apache.spark.sql.catalyst.expressions.IsNaN;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.IsNull;

/** A stored aggregate's columns as expressions of a query: dimensions, and states of measures. */
final class Columns {
  private final Joined joins;
  private final View view;
  private final Map<String, AttributeReference> read = new HashMap<>();
  private final List<Expression> dimensions = new ArrayList<>();
  private final Map<View.Term, Expression> measures = new HashMap<>();
  private final Set<Integer> used = new TreeSet<>();
  private final Terms terms;

  Columns(SparkSession session, View view, Joined joins, List<AttributeReference> columns) {
    this.joins = joins;
    this.view = view;
    columns.forEach(one -> read.put(one.name(), one));
    terms = Terms.of(session, view, joins.columns());
    if (terms.needsTimeZone()
        && !session.sessionState().conf().sessionLocalTimeZone().equals(view.timeZone)) {
      throw new Unfit("it was computed in the time zone %s", view.timeZone);
    }
    boolean ansi = session.sessionState().conf().ansiEnabled();
    for (View.Term one : view.dimensions) {
      Expression over = checked(one, ansi);
      AttributeReference column = read.get(one.name);
      boolean same = over != null && column != null && column.dataType().equals(over.dataType());
      dimensions.add(same ? over : null);
    }
    for (View.Term one : view.measures) {
      Expression over = checked(one, ansi);
      if (over != null) {
        measures.put(one, over);
      }
    }
  }

  private Expression checked(View.Term term, boolean ansi) {
    Expression over = terms.over(term.expression, joins.columns());
    if (over == null) {
      return null;
    }
    if (!Terms.isOf(over.dataType(), term.type)) {
      throw new Unfit("the type of %s is %s now", term.name, over.dataType().simpleString());
    }
    // What fails in ANSI mode is null in the view.
    return ansi && !(over instanceof Attribute) ? null : joins.unified(over).canonicalized();
  }

  /** Conditions of the stored aggregate over the query's columns. */
  List<Expression> filters() {
    List<Expression> found = new ArrayList<>();
    for (String text : view.filters) {
      Expression over = terms.over(text, joins.columns());
      if (over == null) {
        throw new Unfit("its condition %s cannot be compared", text);
      }
      found.addAll(Catalyst.conjuncts(over));
    }
    return found;
  }

  /** Whether expressions over dimensions are just all of the dimensions. */
  boolean areAll(List<Expression> groups) {
    Set<Object> wanted = new HashSet<>();
    for (View.Term one : view.dimensions) {
      AttributeReference column = read.get(one.name);
      wanted.add(column == null ? one.name : column.exprId());
    }
    Set<Object> found = new HashSet<>();
    for (Expression one : groups) {
      found.add(one instanceof Attribute ? ((Attribute) one).exprId() : one);
    }
    return found.equals(wanted);
  }

  /** An expression over the query's columns, over dimensions. */
  Expression overDimensions(Expression expression) {
    Expression found = Catalyst.replace(joins.unified(expression), this::dimension);
    Catalyst.each(found, this::check);
    return found;
  }

  private Expression dimension(Expression one) {
    Expression wanted = one.canonicalized();
    for (int i = 0; i < dimensions.size(); i++) {
      if (wanted.equals(dimensions.get(i))) {
        used.add(i);
        return read.get(view.dimensions.get(i).name);
      }
    }
    return null;
  }

  private void check(Expression one) {
    if (one instanceof Attribute && !isOwn((Attribute) one)) {
      throw new Unfit("%s is no dimension", ((Attribute) one).name());
    }
    // Groups have one zero and one NaN: what tells these apart must not see them.
    for (Expression child : Catalyst.list(one.children())) {
      if (child instanceof Attribute
          && Catalyst.isFloat(child.dataType())
          && !(one instanceof BinaryComparison
              || one instanceof In
              || one instanceof InSet
              || one instanceof IsNull
              || one instanceof IsNotNull
              || one instanceof IsNaN)) {
        throw new Unfit("%s of a float dimension may tell -0 from 0", one.prettyName());
      }
    }
  }

  private boolean isOwn(Attribute one) {
    return read.values().stream().anyMatch(own -> own.exprId().equals(one.exprId()));
  }

  /** The measure of this expression that has such states; null where there is none. */
  View.Term measure(Expression expression, String function) {
    Expression wanted = joins.unified(expression).canonicalized();
    for (View.Term one : view.measures) {
      if (wanted.equals(measures.get(one)) && one.functions.contains(function)) {
        return one;
      }
    }
    return null;
  }

  AttributeReference state(View.Term measure, String function) {
    return own(measure.name + "_" + function);
  }

  AttributeReference own(String column) {
    AttributeReference found = read.get(column);
    if (found == null) {
      throw new Unfit("its table has no column %s", column);
    }
    return found;
  }

  /** Bits of the dimensions that the query uses so far. */
  int used() {
    return used.stream().mapToInt(i -> 1 << i).sum();
  }
}
