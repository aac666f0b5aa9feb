package lakewarden.reports;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.spark.sql.connector.catalog.CatalogManager;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;

/** Writes what the portal is told of a query; besides the text there is no constant in it. */
final class QueryJson {
  private static final JsonFactory FACTORY = new JsonFactory();
  private static final int MOST_OF_A_KIND = 100;

  private final SparkListenerSQLExecutionEnd end;
  private final long bytes;
  private final String catalog;

  QueryJson(SparkListenerSQLExecutionEnd end, long bytes, String catalog) {
    this.end = end;
    this.bytes = bytes;
    this.catalog = catalog;
  }

  byte[] of(PlanScans scans, String text) throws IOException {
    boolean isFailed = end.executionFailure() != null && end.executionFailure().isDefined();
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (JsonGenerator json = FACTORY.createGenerator(out)) {
      json.writeStartObject();
      json.writeNumberField("execution", end.executionId());
      json.writeStringField("state", isFailed ? "FAILED" : "FINISHED");
      json.writeStringField("ended_at", Instant.ofEpochMilli(end.time()).toString());
      json.writeNumberField("seconds", (double) end.duration() / TimeUnit.SECONDS.toNanos(1));
      json.writeNumberField("bytes", bytes);
      json.writeStringField("default_db", defaultDb(end.qe()));
      json.writeStringField("text", text);
      json.writeStringField("unread", scans.unread);
      json.writeBooleanField("names_all_tables", !isFailed && scans.namesAll(catalog));
      json.writeArrayFieldStart("scans");
      if (!isFailed) {
        for (PlanScans.One one : scans.of(catalog)) {
          scan(json, one);
        }
      }
      json.writeEndArray();
      json.writeArrayFieldStart("asked");
      if (!isFailed) {
        for (QuerySelects.Use one : scans.asked) {
          if (one.name.catalog.equals(catalog)) {
            use(json, one);
          }
        }
      }
      json.writeEndArray();
      json.writeEndObject();
    }
    return out.toByteArray();
  }

  private String defaultDb(QueryExecution query) {
    CatalogManager manager = query.sparkSession().sessionState().catalogManager();
    return manager.currentCatalog().name().equals(catalog)
        ? String.join(".", manager.currentNamespace())
        : "";
  }

  private static void scan(JsonGenerator json, PlanScans.One one) throws IOException {
    json.writeStartObject();
    json.writeStringField("db", one.name.db);
    json.writeStringField("table", one.name.table);
    if (one.snapshot != null) {
      json.writeNumberField("snapshot", one.snapshot);
    }
    filters(json, one.filters);
    json.writeNumberField("files", one.files);
    json.writeNumberField("skipped", one.skipped);
    json.writeNumberField("bytes", one.bytes);
    json.writeNumberField("rows", one.rows);
    json.writeEndObject();
  }

  private static void use(JsonGenerator json, QuerySelects.Use one) throws IOException {
    json.writeStartObject();
    json.writeStringField("db", one.name.db);
    json.writeStringField("table", one.name.table);
    json.writeNumberField("select", one.select);
    filters(json, one.filters);
    json.writeArrayFieldStart("groups");
    int n = 0;
    for (String group : one.groups) {
      if (n++ < MOST_OF_A_KIND) {
        json.writeString(group);
      }
    }
    json.writeEndArray();
    lists(json, "aggregates", one.aggregates);
    lists(json, "joins", one.joins);
    json.writeStringField("unfit", one.unfit);
    json.writeEndObject();
  }

  private static void filters(JsonGenerator json, Collection<Filter> filters) throws IOException {
    json.writeArrayFieldStart("filters");
    int n = 0;
    for (Filter one : filters) {
      if (n++ < MOST_OF_A_KIND) {
        list(json, List.of(one.column, one.kind));
      }
    }
    json.writeEndArray();
  }

  private static void lists(JsonGenerator json, String name, Collection<List<String>> lists)
      throws IOException {
    json.writeArrayFieldStart(name);
    int n = 0;
    for (List<String> one : lists) {
      if (n++ < MOST_OF_A_KIND) {
        list(json, one);
      }
    }
    json.writeEndArray();
  }

  private static void list(JsonGenerator json, List<String> texts) throws IOException {
    json.writeStartArray();
    for (String text : texts) {
      json.writeString(text);
    }
    json.writeEndArray();
  }
}
