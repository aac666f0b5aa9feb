package lakewarden.indexes.metrics;

import java.util.List;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomSumMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;

/** What Spark's page of a query shows of indexes. Spark makes each metric by its class's name. */
public final class IndexMetric {
  private IndexMetric() {}

  /** Every metric of a scan. */
  public static List<CustomMetric> all() {
    return List.of(new FilesDropped(), new RowGroupsDropped(), new BytesRead(), new Millis());
  }

  /** A figure of the driver. */
  public static CustomTaskMetric value(String name, long value) {
    return new CustomTaskMetric() {
      @Override
      public String name() {
        return name;
      }

      @Override
      public long value() {
        return value;
      }
    };
  }

  public static final class FilesDropped extends CustomSumMetric {
    @Override
    public String name() {
      return "indexFilesDropped";
    }

    @Override
    public String description() {
      return "data files dropped by indexes";
    }
  }

  public static final class RowGroupsDropped extends CustomSumMetric {
    @Override
    public String name() {
      return "indexRowGroupsDropped";
    }

    @Override
    public String description() {
      return "row groups dropped by indexes";
    }
  }

  public static final class BytesRead extends CustomSumMetric {
    @Override
    public String name() {
      return "indexBytesRead";
    }

    @Override
    public String description() {
      return "bytes of indexes read";
    }
  }

  public static final class Millis extends CustomSumMetric {
    @Override
    public String name() {
      return "indexMillis";
    }

    @Override
    public String description() {
      return "planning with indexes (ms)";
    }
  }
}
