package lakewarden.spark;

import org.apache.spark.sql.api.java.UDF1;
import org.apache.spark.sql.api.java.UDF2;
import org.apache.spark.sql.types.DataType;

/**
 * Makes Spark functions that the optimizer neither repeats nor moves, for callers through py4j.
 *
 * <p>py4j picks the wrong overload of functions.udf, so the right one is named here. By reflection,
 * which spares the build Spark's largest jars.
 */
public final class Functions {
  private Functions() {}

  /** Gives a function of one column. */
  public static Object of(UDF1<?, ?> function, DataType type) throws ReflectiveOperationException {
    return make(UDF1.class, function, type);
  }

  /** Gives a function of two columns. */
  public static Object of(UDF2<?, ?, ?> function, DataType type)
      throws ReflectiveOperationException {
    return make(UDF2.class, function, type);
  }

  private static Object make(Class<?> kind, Object function, DataType type)
      throws ReflectiveOperationException {
    Class<?> functions = Class.forName("org.apache.spark.sql.functions");
    Object made = functions.getMethod("udf", kind, DataType.class).invoke(null, function, type);
    Class<?> udf = Class.forName("org.apache.spark.sql.expressions.UserDefinedFunction");
    return udf.getMethod("asNondeterministic").invoke(made);
  }
}
