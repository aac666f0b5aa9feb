package lakewarden.cubes;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;

/** One aggregate of a query in parts: read from a cube or aggregated afresh, merged, and finished. */
final class State {
  /** A column that both the cube's part and the fresh part give. */
  static final class Column {
    final Expression ofCube;

    /** An aggregate; anything else is grouped by besides. */
    final Expression fresh;

    Column(Expression ofCube, Expression fresh) {
      this.ofCube = ofCube;
      this.fresh = fresh;
    }

    boolean isGrouped() {
      return !(fresh instanceof AggregateExpression);
    }
  }

  final List<Column> columns = new ArrayList<>();
  private Function<List<Attribute>, List<AggregateExpression>> merge;
  private Function<List<Attribute>, Expression> finish;

  private State() {}

  static State of(
      List<Column> columns,
      Function<List<Attribute>, List<AggregateExpression>> merge,
      Function<List<Attribute>, Expression> finish) {
    State state = new State();
    state.columns.addAll(columns);
    state.merge = merge;
    state.finish = finish;
    return state;
  }

  /** A state of one column. */
  static State of(
      Expression ofCube,
      Expression fresh,
      Function<Attribute, AggregateExpression> merge,
      Function<Attribute, Expression> finish) {
    return of(
        List.of(new Column(ofCube, fresh)),
        read -> List.of(merge.apply(read.get(0))),
        merged -> finish.apply(merged.get(0)));
  }

  /** Aggregates over the columns of both parts. */
  List<AggregateExpression> merge(List<Attribute> read) {
    return merge.apply(read);
  }

  /** The query's aggregate from what was merged. */
  Expression finish(List<Attribute> merged) {
    return finish.apply(merged);
  }
}
