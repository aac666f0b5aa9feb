package lakewarden.reports;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.iceberg.MetadataColumns;
import org.apache.iceberg.expressions.And;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Not;
import org.apache.iceberg.expressions.Or;
import org.apache.iceberg.expressions.UnboundPredicate;
import org.apache.iceberg.expressions.UnboundTransform;
import org.apache.spark.sql.connector.read.Scan;

/** Reads which filters Spark handed to one of Iceberg's scans. */
final class PushedFilters {
  private PushedFilters() {}

  static List<Filter> of(Scan scan, Object owner) {
    List<Filter> found = new ArrayList<>();
    for (Object one : expressions(scan)) {
      found.addAll(read((Expression) one, owner));
    }
    return found;
  }

  /** The scan keeps them for itself, and else tells them as a text with their constants. */
  private static List<?> expressions(Scan scan) {
    for (Class<?> kind = scan.getClass(); kind != null; kind = kind.getSuperclass()) {
      try {
        Method method = kind.getDeclaredMethod("filterExpressions");
        method.setAccessible(true);
        return (List<?>) method.invoke(scan);
      } catch (NoSuchMethodException e) {
        // A class above it has it.
      } catch (ReflectiveOperationException | RuntimeException e) {
        return List.of();
      }
    }
    return List.of();
  }

  private static List<Filter> read(Expression expression, Object owner) {
    if (expression instanceof And) {
      List<Filter> both = new ArrayList<>(read(((And) expression).left(), owner));
      both.addAll(read(((And) expression).right(), owner));
      return both;
    }
    if (expression instanceof Or) {
      List<List<Filter>> branches = new ArrayList<>();
      branches(expression, owner, branches);
      return Filter.either(branches);
    }
    if (expression instanceof Not) {
      return Filter.negated(read(((Not) expression).child(), owner));
    }
    if (!(expression instanceof UnboundPredicate)) {
      return List.of();
    }
    UnboundPredicate<?> predicate = (UnboundPredicate<?>) expression;
    String name = predicate.ref().name().toLowerCase(Locale.ROOT);
    if (isOfFile(name)) {
      return List.of();
    }
    String kind = kind(predicate);
    boolean isChanged = predicate.term() instanceof UnboundTransform;
    boolean isKept = kind.equals(Filter.RANGE) || kind.equals(Filter.NULL);
    return List.of(new Filter(owner, name, isChanged && !isKept ? Filter.OTHER : kind));
  }

  /** Whether it is one of Iceberg's columns that tell where a row is. */
  static boolean isOfFile(String column) {
    return MetadataColumns.isMetadataColumn(column);
  }

  private static void branches(Expression node, Object owner, List<List<Filter>> into) {
    if (node instanceof Or) {
      branches(((Or) node).left(), owner, into);
      branches(((Or) node).right(), owner, into);
    } else {
      into.add(read(node, owner));
    }
  }

  private static String kind(UnboundPredicate<?> predicate) {
    switch (predicate.op()) {
      case EQ:
        return Filter.EQUAL;
      case IN:
        return predicate.literals().size() == 1 ? Filter.EQUAL : Filter.IN;
      case LT:
      case LT_EQ:
      case GT:
      case GT_EQ:
        return Filter.RANGE;
      case STARTS_WITH:
        return Filter.PREFIX;
      case IS_NULL:
      case NOT_NULL:
        return Filter.NULL;
      default:
        return Filter.OTHER;
    }
  }
}
