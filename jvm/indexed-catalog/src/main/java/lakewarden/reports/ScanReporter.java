package lakewarden.reports;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.iceberg.metrics.MetricsReport;
import org.apache.iceberg.metrics.MetricsReporter;
import org.apache.iceberg.metrics.ScanReport;
import org.apache.iceberg.metrics.ScanReportParser;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends Iceberg's scan reports to the portal: how a table was filtered, with constants hashed by
 * Iceberg, and what planning left out.
 *
 * <p>A catalog names it as `metrics-reporter-impl`. A thread of its own sends one report after the
 * other. A full queue or a portal that does not answer loses reports, which are counted; no query
 * waits for it. Commits are not sent: the metastore's log tells of them.
 */
public final class ScanReporter implements MetricsReporter {
  private static final Logger LOG = LoggerFactory.getLogger(ScanReporter.class);
  private static final String URI_KEY = "lakewarden.scan-report-uri";
  private static final String TOKEN_KEY = "lakewarden.report-token-file";
  private static final int MOST_WAITING = 256;
  private static final int LAST_MILLIS = 3_000;
  private static final long SECONDS_BETWEEN_WARNINGS = 300;

  private final ArrayBlockingQueue<ScanReport> queue = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private URI lake;
  private Portal portal;
  private long warnedAt = Long.MIN_VALUE;

  @Override
  public void initialize(Map<String, String> properties) {
    String said = properties.getOrDefault(URI_KEY, "").trim();
    lake = Portal.address(said.endsWith("/") ? said : said + "/", URI_KEY);
    portal = new Portal(properties.getOrDefault(TOKEN_KEY, ""));
    Thread thread = new Thread(this::run, "lakewarden-scan-reports");
    thread.setDaemon(true);
    thread.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(thread), "lakewarden-last-scan"));
  }

  @Override
  public void report(MetricsReport report) {
    if (report instanceof ScanReport && portal != null && !queue.offer((ScanReport) report)) {
      lost.incrementAndGet();
    }
  }

  /** How many reports the portal has taken in, and how many it heard nothing of. */
  public Map<String, Long> counts() {
    return Map.of("sent", sent.get(), "lost", lost.get());
  }

  private void run() {
    try {
      while (true) {
        send(queue.take());
      }
    } catch (InterruptedException e) {
      for (ScanReport last = queue.poll(); last != null; last = queue.poll()) {
        send(last);
      }
    }
  }

  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(LAST_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(ScanReport report) {
    try {
      int status = portal.post(address(report.tableName()), body(report));
      if (status / 100 != 2) {
        throw new IOException("it answers " + status);
      }
      sent.incrementAndGet();
    } catch (IOException | RuntimeException e) {
      lost.incrementAndGet();
      long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
      if (warnedAt == Long.MIN_VALUE || now - warnedAt > SECONDS_BETWEEN_WARNINGS) {
        warnedAt = now;
        LOG.warn("Scans are not reported to {}: {}", lake.getHost(), e.getMessage());
      }
    }
  }

  /** The report as Iceberg's REST client sends it: its own JSON with the type of report in front. */
  private static byte[] body(ScanReport report) {
    String json = ScanReportParser.toJson(report);
    return ("{\"report-type\":\"scan-report\"," + json.substring(1))
        .getBytes(StandardCharsets.UTF_8);
  }

  /** The address of a table; its name is `catalog.database.table`, of which the catalog is ours. */
  private URI address(String name) throws IOException {
    int table = name.lastIndexOf('.');
    int db = table < 0 ? -1 : name.lastIndexOf('.', table - 1);
    if (db < 0) {
      throw new IOException("a table without catalog and database is not known there");
    }
    String path =
        "namespaces/" + part(name.substring(db + 1, table)) + "/tables/"
            + part(name.substring(table + 1)) + "/metrics";
    return lake.resolve(path);
  }

  private static String part(String name) throws IOException {
    return URLEncoder.encode(name, "UTF-8").replace("+", "%20");
  }
}
