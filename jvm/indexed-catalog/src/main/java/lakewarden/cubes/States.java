package lakewarden.cubes;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.sql.catalyst.expressions.ArrayDistinct;
import org.apache.spark.sql.catalyst.expressions.AttributeReference;
import org.apache.spark.sql.catalyst.expressions.Coalesce;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.Flatten;
import org.apache.spark.sql.catalyst.expressions.HllSketchEstimate;
import org.apache.spark.sql.catalyst.expressions.If;
import org.apache.spark.sql.catalyst.expressions.IsNotNull;
import org.apache.spark.sql.catalyst.expressions.Literal;
import org.apache.spark.sql.catalyst.expressions.Size;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateExpression;
import org.apache.spark.sql.catalyst.expressions.aggregate.AggregateFunction;
import org.apache.spark.sql.catalyst.expressions.aggregate.Average;
import org.apache.spark.sql.catalyst.expressions.aggregate.CollectSet;
import org.apache.spark.sql.catalyst.expressions.aggregate.Count;
import org.apache.spark.sql.catalyst.expressions.aggregate.HllSketchAgg;
import org.apache.spark.sql.catalyst.expressions.aggregate.HllUnionAgg;
import org.apache.spark.sql.catalyst.expressions.aggregate.HyperLogLogPlusPlus;
import org.apache.spark.sql.catalyst.expressions.aggregate.Max;
import org.apache.spark.sql.catalyst.expressions.aggregate.Min;
import org.apache.spark.sql.catalyst.expressions.aggregate.Sum;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.StringType;
import scala.Option;

/** What of a stored aggregate makes each aggregate of a query, exactly; or why it cannot. */
final class States {
  private static final int SKETCH_BITS = 12;
  private static final double FINEST_SKETCH = 0.02;

  private final Query<?> query;
  private final Columns columns;
  private final Exactness exact;

  /** Whether the query's groups are the stored ones. */
  private final boolean sameGroups;

  States(Query<?> query, Columns columns, Exactness exact, boolean sameGroups) {
    this.query = query;
    this.columns = columns;
    this.exact = exact;
    this.sameGroups = sameGroups;
  }

  State of(AggregateExpression asked) {
    AggregateFunction function = asked.aggregateFunction();
    List<Expression> inputs =
        Catalyst.list(function.children()).stream().map(query::over).collect(Collectors.toList());
    if (asked.isDistinct()) {
      return distinct(asked, inputs);
    }
    if (function instanceof Count) {
      return count(asked, inputs);
    }
    if (function instanceof Sum) {
      View.Term measure = measure(inputs.get(0), "sum");
      exact.sum((Sum) function, measure);
      return sum(asked, (Sum) function, columns.state(measure, "sum"));
    }
    if (function instanceof Average) {
      return average(asked, (Average) function, inputs.get(0));
    }
    if (function instanceof Min || function instanceof Max) {
      return extreme(asked, inputs.get(0), function instanceof Min);
    }
    if (function instanceof HyperLogLogPlusPlus) {
      return sketch(asked, (HyperLogLogPlusPlus) function, inputs.get(0));
    }
    throw new Unfit("%s has no state", function.prettyName());
  }

  private View.Term measure(Expression input, String function) {
    View.Term found = columns.measure(input, function);
    if (found == null) {
      throw new Unfit("it has no %s of %s", function, input.sql());
    }
    return found;
  }

  /** The state in the rows that the aggregate's FILTER passes, else `otherwise`. */
  private Expression where(AggregateExpression asked, Expression state, Expression otherwise) {
    if (asked.filter().isEmpty()) {
      return state;
    }
    Expression passes = columns.overDimensions(query.over(asked.filter().get()));
    return new If(passes, state, otherwise);
  }

  private Expression where(AggregateExpression asked, Expression state) {
    return where(asked, state, new Literal(null, state.dataType()));
  }

  private static AggregateExpression fresh(AggregateExpression asked, AggregateFunction function) {
    return Catalyst.aggregate(function, asked.filter());
  }

  private static AggregateExpression merged(AggregateFunction function) {
    return Catalyst.aggregate(function, Option.empty());
  }

  private State count(AggregateExpression asked, List<Expression> inputs) {
    Expression zero = new Literal(0L, DataTypes.LongType);
    return State.of(
        where(asked, counted(inputs, zero), zero),
        fresh(asked, asked.aggregateFunction()),
        read -> merged(new Sum(read)),
        sum -> new Coalesce(Catalyst.seq(List.of(sum, zero))));
  }

  private Expression counted(List<Expression> inputs, Expression zero) {
    AttributeReference rows = columns.own("rows");
    if (inputs.stream().noneMatch(Expression::nullable)) {
      return rows;
    }
    if (inputs.size() == 1 && columns.measure(inputs.get(0), "count") != null) {
      return columns.state(columns.measure(inputs.get(0), "count"), "count");
    }
    Expression counted = rows;
    for (Expression one : inputs) {
      counted = new If(new IsNotNull(dimension(one, "count")), counted, zero);
    }
    return counted;
  }

  private Expression dimension(Expression input, String function) {
    try {
      return columns.overDimensions(input);
    } catch (Unfit e) {
      throw new Unfit("it has no %s of %s", function, input.sql());
    }
  }

  private State sum(AggregateExpression asked, Sum sum, Expression state) {
    return State.of(
        where(asked, Catalyst.cast(state, sum.dataType())),
        fresh(asked, sum),
        read -> merged(new Sum(read, sum.evalMode())),
        merged -> Catalyst.cast(merged, sum.dataType()));
  }

  private State average(AggregateExpression asked, Average average, Expression input) {
    View.Term measure = measure(input, "sum");
    measure(input, "count");
    Averages.check(average);
    exact.average(average, measure);
    Sum sum = new Sum(average.child());
    Expression zero = new Literal(0L, DataTypes.LongType);
    DataType summed = sum.dataType();
    State.Column sums =
        new State.Column(
            where(asked, Catalyst.cast(columns.state(measure, "sum"), summed)), fresh(asked, sum));
    State.Column counts =
        new State.Column(
            where(asked, columns.state(measure, "count"), zero),
            fresh(asked, new Count(Catalyst.seq(List.of(average.child())))));
    return State.of(
        List.of(sums, counts),
        read -> List.of(merged(new Sum(read.get(0))), merged(new Sum(read.get(1)))),
        both ->
            Averages.finish(
                average,
                Catalyst.cast(both.get(0), summed),
                new Coalesce(Catalyst.seq(List.of(both.get(1), zero)))));
  }

  private State extreme(AggregateExpression asked, Expression input, boolean least) {
    String name = least ? "min" : "max";
    View.Term measure = columns.measure(input, name);
    Expression state;
    if (measure == null) {
      state = dimension(input, name);
      if (Catalyst.isFloat(state.dataType())) {
        throw new Unfit("%s of a float dimension may tell -0 from 0", name);
      }
    } else {
      exact.extreme(input.dataType(), measure);
      state = columns.state(measure, name);
    }
    return State.of(
        where(asked, state),
        fresh(asked, asked.aggregateFunction()),
        read -> merged(least ? new Min(read) : new Max(read)),
        merged -> merged);
  }

  private State distinct(AggregateExpression asked, List<Expression> inputs) {
    if (!(asked.aggregateFunction() instanceof Count)) {
      throw new Unfit("%s of distinct values has no state", asked.aggregateFunction().prettyName());
    }
    if (inputs.size() == 1 && columns.measure(inputs.get(0), "distinct") != null) {
      return values(asked, inputs.get(0));
    }
    if (inputs.size() == 1 && columns.measure(inputs.get(0), "distinct_count") != null) {
      return counted(asked, inputs.get(0));
    }
    return keys(asked, inputs);
  }

  /** The number of distinct values as it is stored, which is right for the stored groups alone. */
  private State counted(AggregateExpression asked, Expression input) {
    if (!sameGroups) {
      try {
        return keys(asked, List.of(input));
      } catch (Unfit e) {
        throw new Unfit("its counts of distinct values hold for its own groups alone");
      }
    }
    View.Term measure = columns.measure(input, "distinct_count");
    Expression zero = new Literal(0L, DataTypes.LongType);
    return State.of(
        where(asked, columns.state(measure, "distinct_count")),
        fresh(asked, asked.aggregateFunction()),
        read -> merged(new Max(read)),
        most -> new Coalesce(Catalyst.seq(List.of(most, zero))));
  }

  /** Distinct dimensions. */
  private State keys(AggregateExpression asked, List<Expression> inputs) {
    List<State.Column> all = new ArrayList<>();
    for (int i = 0; i < inputs.size(); i++) {
      Expression value = dimension(inputs.get(i), "distinct");
      if (Catalyst.any(value, one -> Catalyst.isFloat(one.dataType()))) {
        throw new Unfit("distinct values of a float dimension may tell -0 from 0");
      }
      Expression raw = Catalyst.list(asked.aggregateFunction().children()).get(i);
      Expression none = new Literal(null, raw.dataType());
      all.add(
          new State.Column(
              where(asked, value),
              asked.filter().isEmpty() ? raw : new If(asked.filter().get(), raw, none)));
    }
    return State.of(
        all,
        read ->
            List.of(
                Catalyst.aggregate(
                    new Count(Catalyst.seq(new ArrayList<Expression>(read))),
                    Option.empty(),
                    true)),
        merged -> merged.get(0));
  }

  private State values(AggregateExpression asked, Expression input) {
    if (Catalyst.isFloat(input.dataType())) {
      throw new Unfit("distinct floats may tell -0 from 0");
    }
    View.Term measure = columns.measure(input, "distinct");
    Expression raw = asked.aggregateFunction().children().head();
    return State.of(
        where(asked, columns.state(measure, "distinct")),
        fresh(asked, new CollectSet(raw)),
        read -> merged(new CollectSet(read)),
        sets ->
            Catalyst.cast(
                new Size(new ArrayDistinct(new Flatten(sets)), false), DataTypes.LongType));
  }

  private State sketch(AggregateExpression asked, HyperLogLogPlusPlus about, Expression input) {
    View.Term measure = measure(input, "sketch");
    DataType type = input.dataType();
    boolean known =
        type instanceof IntegerType
            || type instanceof LongType
            || type instanceof StringType
            || type instanceof BinaryType;
    if (!known || about.relativeSD() < FINEST_SKETCH) {
      throw new Unfit("its sketch of %s is not fine enough", input.sql());
    }
    return State.of(
        where(asked, columns.state(measure, "sketch")),
        fresh(asked, new HllSketchAgg(about.child(), SKETCH_BITS)),
        read -> merged(new HllUnionAgg(read, true)),
        one ->
            new Coalesce(
                Catalyst.seq(
                    List.of(
                        new HllSketchEstimate(one), new Literal(0L, DataTypes.LongType)))));
  }

  static boolean isWideDecimal(DataType type) {
    return type instanceof DecimalType
        && ((DecimalType) type).precision() > DecimalType.MAX_PRECISION() - 10;
  }
}
