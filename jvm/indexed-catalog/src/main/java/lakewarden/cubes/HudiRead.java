package lakewarden.cubes;

import java.util.Locale;
import java.util.Map;
import org.apache.hudi.HoodieFileIndex;
import org.apache.spark.sql.execution.datasources.HadoopFsRelation;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.collection.JavaConverters;

/** Says whether a Hudi table is read as it is: all of its rows, at its newest commit. */
public final class HudiRead {
  private static final String TYPE = "hoodie.datasource.query.type";

  private HudiRead() {}

  /** Whether a relation of a Hudi table reads it as it is. */
  public static boolean isPlain(LogicalRelation plan) {
    HoodieFileIndex index = index(plan);
    return index != null && isSnapshot(index) && option(plan, index) == null;
  }

  /** Its files; null where it reads none of such a table as a whole. */
  static HoodieFileIndex index(LogicalRelation plan) {
    if (!(plan.relation() instanceof HadoopFsRelation)) {
      return null;
    }
    Object location = ((HadoopFsRelation) plan.relation()).location();
    // Its subclasses read changes between commits.
    return location.getClass() == HoodieFileIndex.class ? (HoodieFileIndex) location : null;
  }

  static boolean isSnapshot(HoodieFileIndex index) {
    return "SNAPSHOT".equals(index.getQueryType().name());
  }

  /** The option by which other rows are read than the newest; null where there is none. */
  static String option(LogicalRelation plan, HoodieFileIndex index) {
    String found = option(JavaConverters.mapAsJavaMapConverter(index.options()).asJava());
    return found != null
        ? found
        : option(
            JavaConverters.mapAsJavaMapConverter(((HadoopFsRelation) plan.relation()).options())
                .asJava());
  }

  private static String option(Map<String, String> options) {
    for (Map.Entry<String, String> one : options.entrySet()) {
      String key = one.getKey().toLowerCase(Locale.ROOT);
      String value = one.getValue();
      boolean chosen =
          key.equals("as.of.instant")
              || key.equals("timestampasof")
              || key.equals("glob.paths")
              || key.startsWith("hoodie.datasource.read.")
                  && (key.contains("instant")
                      || key.contains("paths")
                      || key.contains("begin")
                      || key.contains("end"))
              || key.equals(TYPE) && !"snapshot".equalsIgnoreCase(value)
              || key.equals("hoodie.query.as.ro.table") && "true".equalsIgnoreCase(value);
      if (chosen && value != null && !value.isEmpty()) {
        return one.getKey();
      }
    }
    return null;
  }
}
