package lakewarden.cubes;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.execution.QueryExecution;

/** Says, for people and programs, which cube or materialization answers a query, or why none does. */
public final class Answers {
  private static final ThreadLocal<List<String>> HEARD = new ThreadLocal<>();

  private static final String NOTHING =
      "No aggregate of a table that has cubes, and no setting that names materializations.";

  private Answers() {}

  /** One line a cube: what it answers, or the first rule that failed. Nothing is run. */
  public static List<String> why(Dataset<?> query) {
    QueryExecution execution = query.queryExecution();
    List<String> heard = new ArrayList<>();
    HEARD.set(heard);
    try {
      query
          .sparkSession()
          .sessionState()
          .optimizer()
          .execute(execution.withCachedData().clone());
    } finally {
      HEARD.remove();
    }
    return heard.isEmpty() ? List.of(NOTHING) : heard;
  }

  static void say(String line) {
    List<String> heard = HEARD.get();
    if (heard != null && !heard.contains(line)) {
      heard.add(line);
    }
  }
}
