package lakewarden.reports;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;

/** What all queries of a driver have in common. */
final class Application {
  private static final int MOST = 200;

  private final String id;
  private final String name;
  private final String user;
  private final String version;
  private final boolean hasScanReports;

  Application(String id, String name, String user, String version) {
    this(id, name, user, version, false);
  }

  private Application(String id, String name, String user, String version, boolean hasReports) {
    this.id = start(id);
    this.name = start(name);
    this.user = start(user);
    this.version = start(version);
    this.hasScanReports = hasReports;
  }

  /** The same; whether the catalog reports its scans besides. */
  Application with(boolean hasReports) {
    return new Application(id, name, user, version, hasReports);
  }

  private static String start(String text) {
    String clean = text == null ? "" : text.replace("\0", "").trim();
    return clean.length() <= MOST ? clean : clean.substring(0, MOST);
  }

  void write(JsonGenerator json) throws IOException {
    json.writeObjectFieldStart("application");
    json.writeStringField("id", id);
    json.writeStringField("name", name);
    json.writeStringField("user", user);
    json.writeStringField("version", version);
    json.writeEndObject();
    json.writeBooleanField("has_scan_reports", hasScanReports);
  }
}
