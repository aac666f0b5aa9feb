package lakewarden.cubes;

import java.util.HashMap;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.ExprId;

/** Columns that are equal in every row, by the equalities of joins. */
final class Classes {
  private final Map<ExprId, Attribute> towards = new HashMap<>();

  void join(Attribute one, Attribute other) {
    Attribute a = of(one);
    Attribute b = of(other);
    if (!a.exprId().equals(b.exprId())) {
      towards.put(b.exprId(), a);
    }
  }

  /** The column that stands for all of its class. */
  Attribute of(Attribute attribute) {
    Attribute next = towards.get(attribute.exprId());
    return next == null ? attribute : of(next);
  }

  boolean same(Attribute one, Attribute other) {
    return of(one).exprId().equals(of(other).exprId());
  }
}
