package lakewarden.indexes;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** Sums up reports by table, index and cube, and writes them as the portal takes them. */
final class ReportBody {
  private static final int MOST_TABLES = 256;
  private static final int MOST_USES = 64;
  private static final int MOST_APPLICATION = 200;
  private static final int MOST_USER = 150;

  /** Of one table. */
  private static final class Sums {
    final Map<PlanReport.IndexOfColumn, PlanReport.Use> indexes = new HashMap<>();
    final Map<String, Answered> cubes = new HashMap<>();
  }

  /** Of one cube. */
  private static final class Answered {
    long queries;
    long rows;
    long bytes;
    long freshRows;
    long cubeRows;
    long cubeBytes;
    long nanos;

    void add(CubeReport one) {
      queries++;
      rows += one.use.rows;
      bytes += one.use.bytes;
      freshRows += one.use.freshRows;
      cubeRows += one.use.cubeRows;
      cubeBytes += one.use.cubeBytes;
      nanos += one.nanos;
    }
  }

  private final Map<String, Sums> tables = new LinkedHashMap<>();
  private String application = "";
  private String user = "";

  void add(PlanReport report) {
    Sums sums = of(report.tableUuid());
    report
        .uses()
        .forEach(
            (index, use) -> {
              if (sums.indexes.containsKey(index) || sums.indexes.size() < MOST_USES) {
                sums.indexes.computeIfAbsent(index, none -> new PlanReport.Use()).add(1, use);
              }
            });
  }

  void add(CubeReport report) {
    Sums sums = of(report.use.tableUuid);
    if (sums.cubes.containsKey(report.use.cube) || sums.cubes.size() < MOST_USES) {
      sums.cubes.computeIfAbsent(report.use.cube, none -> new Answered()).add(report);
    }
    application = start(report.application, MOST_APPLICATION);
    user = start(report.user, MOST_USER);
  }

  /** A table too many is summed where nobody sees it. */
  private Sums of(String table) {
    Sums known = tables.get(table);
    if (known == null) {
      known = new Sums();
      if (tables.size() < MOST_TABLES) {
        tables.put(table, known);
      }
    }
    return known;
  }

  private static String start(String text, int most) {
    String clean = text == null ? "" : text.replace("\0", "").trim();
    return clean.length() <= most ? clean : clean.substring(0, most);
  }

  byte[] json(UUID sender, long sequence) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = new JsonFactory().createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("sender", sender.toString());
      json.writeNumberField("sequence", sequence);
      json.writeObjectFieldStart("reader");
      json.writeStringField("engine", "spark");
      json.writeStringField("application", application);
      json.writeStringField("user", user);
      json.writeEndObject();
      json.writeArrayFieldStart("tables");
      for (Map.Entry<String, Sums> table : tables.entrySet()) {
        json.writeStartObject();
        json.writeStringField("table_uuid", table.getKey());
        indexes(json, table.getValue());
        cubes(json, table.getValue());
        json.writeEndObject();
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  private static void indexes(JsonGenerator json, Sums sums) throws IOException {
    json.writeArrayFieldStart("indexes");
    for (Map.Entry<PlanReport.IndexOfColumn, PlanReport.Use> one : sums.indexes.entrySet()) {
      json.writeStartObject();
      json.writeStringField("column", one.getKey().column);
      json.writeStringField("kind", one.getKey().kind);
      json.writeNumberField("plans", one.getValue().plans);
      json.writeNumberField("files", one.getValue().files);
      json.writeNumberField("bytes", one.getValue().bytes);
      json.writeEndObject();
    }
    json.writeEndArray();
  }

  private static void cubes(JsonGenerator json, Sums sums) throws IOException {
    json.writeArrayFieldStart("cubes");
    for (Map.Entry<String, Answered> one : sums.cubes.entrySet()) {
      Answered answered = one.getValue();
      json.writeStartObject();
      json.writeStringField("cube", one.getKey());
      json.writeNumberField("queries", answered.queries);
      json.writeNumberField("rows", answered.rows);
      json.writeNumberField("bytes", answered.bytes);
      json.writeNumberField("fresh_rows", answered.freshRows);
      json.writeNumberField("cube_rows", answered.cubeRows);
      json.writeNumberField("cube_bytes", answered.cubeBytes);
      json.writeNumberField("timed", answered.queries);
      json.writeNumberField(
          "seconds", (double) answered.nanos / TimeUnit.SECONDS.toNanos(1));
      json.writeEndObject();
    }
    json.writeEndArray();
  }
}
