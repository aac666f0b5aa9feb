package lakewarden.cubes;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute;
import org.apache.spark.sql.catalyst.expressions.Alias;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.catalyst.plans.physical.UnknownPartitioning;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.DataType;
import scala.Option;
import scala.reflect.ClassTag$;

/**
 * A stored aggregate's expressions in the form that Spark's optimizer gives them, which is the form that it gave
 * those of the query.
 */
final class Terms {
  private static final Recent<String, Terms> MADE = new Recent<>(64);

  private final Map<String, Expression> byText = new HashMap<>();
  private final Map<String, AttributeReference> columns;

  private Terms(Map<String, AttributeReference> columns) {
    this.columns = columns;
  }

  /**
   * Resolve expressions over qualified columns of these types; those that name another column are
   * left out.
   */
  static Terms of(SparkSession session, View view, Map<String, AttributeReference> typed) {
    String columns =
        typed.entrySet().stream()
            .sorted(Map.Entry.comparingByKey())
            .map(one -> one.getKey() + " " + one.getValue().dataType().json() + one.getValue().nullable())
            .collect(Collectors.joining(", "));
    String key =
        session.sessionState().conf().sessionLocalTimeZone()
            + session.sessionState().conf().ansiEnabled()
            + view.key()
            + texts(view)
            + columns;
    return MADE.get(key, same -> made(session, view, typed));
  }

  private static List<String> texts(View view) {
    List<String> texts = new ArrayList<>();
    view.dimensions.forEach(one -> texts.add(one.expression));
    view.measures.forEach(one -> texts.add(one.expression));
    texts.addAll(view.filters);
    return texts;
  }

  private static Terms made(
      SparkSession session, View view, Map<String, AttributeReference> typed) {
    Map<String, AttributeReference> columns = new HashMap<>();
    typed.forEach(
        (name, one) -> {
          String[] parts = name.split("\\.", 2);
          columns.put(
              name, Catalyst.attribute(parts[1], one.dataType(), one.nullable(), parts[0]));
        });
    Terms terms = new Terms(columns);
    List<String> known = new ArrayList<>();
    List<NamedExpression> projected = new ArrayList<>();
    for (String text : texts(view)) {
      Expression parsed = parsed(session, text);
      boolean all =
          !Catalyst.any(
              parsed,
              one ->
                  one instanceof UnresolvedAttribute
                      && !columns.containsKey(column((UnresolvedAttribute) one)));
      if (all && !known.contains(text)) {
        projected.add(Catalyst.alias(parsed, "t" + known.size()));
        known.add(text);
      }
    }
    if (!known.isEmpty()) {
      List<Expression> resolved = resolved(session, projected, new ArrayList<>(columns.values()));
      for (int i = 0; i < known.size(); i++) {
        terms.byText.put(known.get(i), resolved.get(i));
      }
    }
    return terms;
  }

  private static Expression parsed(SparkSession session, String text) {
    try {
      return session.sessionState().sqlParser().parseExpression(text);
    } catch (org.apache.spark.sql.catalyst.parser.ParseException e) {
      throw new Unfit("its expression %s cannot be read", text);
    }
  }

  private static String column(UnresolvedAttribute one) {
    List<String> parts = Catalyst.list(one.nameParts());
    return String.join(".", parts.subList(0, Math.min(2, parts.size())));
  }

  private static List<Expression> resolved(
      SparkSession session, List<NamedExpression> projected, List<Attribute> columns) {
    LogicalPlan source =
        new LogicalRDD(
            Catalyst.seq(columns),
            session.sparkContext().emptyRDD(ClassTag$.MODULE$.apply(InternalRow.class)),
            new UnknownPartitioning(0),
            Catalyst.seq(List.of()),
            false,
            session,
            Option.empty(),
            Option.empty());
    LogicalPlan analyzed =
        session
            .sessionState()
            .executePlan(
                new Project(Catalyst.seq(projected), source),
                org.apache.spark.sql.execution.CommandExecutionMode.SKIP())
            .analyzed();
    LogicalPlan best = session.sessionState().optimizer().execute(analyzed);
    List<Expression> found = new ArrayList<>();
    if (best instanceof Project && ((Project) best).child() instanceof LogicalRDD) {
      for (NamedExpression one : Catalyst.list(((Project) best).projectList())) {
        found.add(one instanceof Alias ? ((Alias) one).child() : (Expression) one);
      }
    }
    if (found.size() != projected.size()) {
      throw new Unfit("its expressions are no plain projection");
    }
    return found;
  }

  /** The expression over the given columns; null where it needs a column that is not there. */
  Expression over(String text, Map<String, ? extends Expression> given) {
    Expression found = byText.get(text);
    if (found == null) {
      return null;
    }
    Map<Object, String> names = new HashMap<>();
    columns.forEach((name, one) -> names.put(one.exprId(), name));
    return Catalyst.replace(
        found,
        one ->
            one instanceof Attribute ? given.get(names.get(((Attribute) one).exprId())) : null);
  }

  boolean needsTimeZone() {
    return byText.values().stream().anyMatch(one -> Catalyst.any(one, Catalyst::isZoned));
  }

  static boolean isOf(DataType type, String said) {
    try {
      return type.equals(DataType.fromDDL(said));
    } catch (RuntimeException e) {
      return false;
    }
  }
}
