package lakewarden.cubes;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.hudi.common.model.HoodieCommitMetadata;
import org.apache.hudi.common.table.HoodieTableMetaClient;
import org.apache.hudi.common.table.timeline.HoodieInstant;
import org.apache.hudi.common.table.timeline.HoodieTimeline;
import org.apache.hudi.hadoop.fs.HadoopFSUtils;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.analysis.NoSuchDatabaseException;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.catalyst.catalog.CatalogTable;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.execution.datasources.LogicalRelation;
import scala.Option;

/**
 * A materialization as one commit of its table has it: rows, the commits of its sources that are in
 * them, and what they are of. All of that is one commit, so none can be of another definition.
 */
final class Kept extends View {
  private static final String PREFIX = "lakewarden.";
  private static final int VERSION = 1;
  private static final Set<String> SAME_ROWS = Set.of("COMPACT", "LOG_COMPACT", "CLUSTER", "INDEX");

  // A completed commit is never written over.
  private static final Recent<String, Kept> READ = new Recent<>(64);

  /** A table that it is of; `on` are the pairs of qualified columns by which it is joined. */
  static final class Part {
    final String table;
    final String id;
    final String commit;
    final List<String[]> on = new ArrayList<>();

    private Part(String table, JsonNode positions) {
      JsonNode position = positions.required(table);
      this.table = table;
      id = Definition.text(position, "table");
      commit = position.path("commit").asText("");
    }
  }

  /** By alias; the first is the table of facts. */
  final Map<String, Part> parts = new LinkedHashMap<>();

  /** The types of the source's columns that were read, by qualified name. */
  final Map<String, String> columns = new LinkedHashMap<>();

  /** When the refresh was asked for, in seconds; 0 where that is not known. */
  final long askedAt;

  /** Rows of the sources that are in it; null where nobody counted them. */
  final BigDecimal rows;

  /** Groups, which are the rows of its table; the largest number where nobody counted them. */
  final long groups;

  private final String location;
  private final String instant;
  private final List<String> selected = new ArrayList<>();

  private Kept(String location, String instant, JsonNode positions, JsonNode note) {
    super(described(note));
    this.location = location;
    this.instant = instant;
    JsonNode said = described(note);
    parts.put("fact", new Part(Definition.text(said, "fact"), positions));
    for (JsonNode join : said.required("joins")) {
      Part part = new Part(Definition.text(join, "table"), positions);
      String alias = Definition.text(join, "alias");
      for (JsonNode pair : join.required("on")) {
        String joined = alias + "." + pair.required(1).asText();
        part.on.add(new String[] {pair.required(0).asText(), joined});
      }
      parts.put(alias, part);
    }
    said.required("columns")
        .fields()
        .forEachRemaining(one -> columns.put(one.getKey(), one.getValue().asText()));
    select(said);
    askedAt = note.path("asked_at").asLong(0);
    rows = note.path("n_rows").isNumber() ? note.path("n_rows").decimalValue() : null;
    groups = note.path("n_groups").asLong(Long.MAX_VALUE);
  }

  private static JsonNode described(JsonNode note) {
    JsonNode said = note.path("answers");
    if (!said.isObject()) {
      throw new Unfit("its newest commit does not say what it is of");
    }
    if (said.path("version").asInt(Integer.MAX_VALUE) > VERSION) {
      throw new Unfit("it is described in a version that this reader does not know");
    }
    return said;
  }

  private void select(JsonNode said) {
    selected.add(quoted(Definition.text(said, "rows_column")) + " AS `rows`");
    for (JsonNode one : said.required("dimensions")) {
      column(quoted(Definition.text(one, "column")), one, Definition.text(one, "name"));
    }
    for (JsonNode one : said.required("measures")) {
      String name = Definition.text(one, "name");
      one.required("states")
          .fields()
          .forEachRemaining(
              state -> {
                String function = state.getKey();
                boolean isValue = function.equals("min") || function.equals("max");
                if (isValue) {
                  column(state.getValue().asText(), one, name + "_" + function);
                } else {
                  selected.add(state.getValue().asText() + " AS " + quoted(name + "_" + function));
                }
              });
    }
  }

  /** Hudi keeps small whole numbers as larger ones. */
  private void column(String sql, JsonNode of, String name) {
    String type = Definition.text(of, "type");
    boolean isSmall = type.equals("tinyint") || type.equals("smallint");
    selected.add((isSmall ? "CAST(" + sql + " AS " + type + ")" : sql) + " AS " + quoted(name));
  }

  private static String quoted(String name) {
    return "`" + name.replace("`", "``") + "`";
  }

  /** What the newest commit of a table says. */
  static Kept of(SparkSession session, CatalogTable table) {
    String location = table.location().toString();
    try {
      HoodieTableMetaClient client =
          HoodieTableMetaClient.builder()
              .setConf(HadoopFSUtils.getStorageConf(session.sessionState().newHadoopConf()))
              .setBasePath(location)
              .build();
      HoodieTimeline commits =
          client.getActiveTimeline().getCommitsTimeline().filterCompletedInstants();
      Iterator<HoodieInstant> newest = commits.getReverseOrderedInstants().iterator();
      while (newest.hasNext()) {
        HoodieInstant one = newest.next();
        String key = location + "@" + one.requestedTime();
        Kept known = READ.get(key, same -> read(location, commits, one));
        if (known != null) {
          return known;
        }
      }
    } catch (Unfit e) {
      throw e;
    } catch (RuntimeException e) {
      throw new Unfit("it is no Hudi table whose commits can be read: %s", e);
    }
    throw new Unfit("it has not been computed yet");
  }

  /** A table that a session knows by name. */
  static CatalogTable table(SparkSession session, String name) {
    try {
      return session
          .sessionState()
          .catalog()
          .getTableMetadata(session.sessionState().sqlParser().parseTableIdentifier(name));
    } catch (NoSuchTableException | NoSuchDatabaseException e) {
      throw new Unfit("there is no such table");
    } catch (ParseException e) {
      throw new Unfit("it is no name of a table");
    }
  }

  /** What a commit says; null where it changed no row. */
  private static Kept read(String location, HoodieTimeline commits, HoodieInstant instant) {
    try {
      HoodieCommitMetadata said = commits.readCommitMetadata(instant);
      String positions = said.getMetadata(PREFIX + "positions");
      if (positions == null || positions.isEmpty()) {
        if (SAME_ROWS.contains(String.valueOf(said.getOperationType()))) {
          return null;
        }
        throw new Unfit("somebody else wrote commit %s to it", instant.requestedTime());
      }
      return new Kept(
          location,
          instant.requestedTime(),
          Definition.JSON.readTree(positions),
          Definition.JSON.readTree(said.getMetadata(PREFIX + "note")));
    } catch (IOException | IllegalArgumentException e) {
      throw new Unfit("what its newest commit says cannot be read: %s", e.getMessage());
    }
  }

  /**
   * Its rows as that commit left them, whatever was committed since, in the columns of a cube. The
   * plan names the table, as one that reads it by its name.
   */
  LogicalPlan plan(SparkSession session, CatalogTable table) {
    Dataset<Row> read =
        session.read().format("hudi").option("as.of.instant", instant).load(location);
    return Catalyst.replace(
        read.selectExpr(selected.toArray(new String[0])).queryExecution().analyzed(),
        one -> one instanceof LogicalRelation ? named((LogicalRelation) one, table) : null);
  }

  private static LogicalRelation named(LogicalRelation read, CatalogTable table) {
    return read.copy(read.relation(), read.output(), Option.apply(table), read.isStreaming());
  }

  @Override
  String key() {
    return location + "@" + instant;
  }

  /** Whether the session's time zone may make a difference to what it holds. */
  boolean isOfTimes() {
    List<String> texts = new ArrayList<>(filters);
    dimensions.forEach(one -> texts.add(one.expression));
    measures.forEach(one -> texts.add(one.expression));
    return columns.values().stream().anyMatch(type -> type.startsWith("timestamp"))
        || texts.stream().anyMatch(text -> text.matches("(?is).*(time|unix).*"));
  }
}
