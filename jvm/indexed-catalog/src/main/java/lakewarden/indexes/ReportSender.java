package lakewarden.indexes;

import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the portal what indexes and cubes saved: counts, and no value of a query.
 *
 * <p>A thread of its own gathers for some seconds and sends once, and nothing is sent twice. A full
 * queue or a portal that does not answer loses reports, which are counted; no query waits for it.
 * What is gathered when the program ends is sent then.
 */
final class ReportSender {
  private static final Logger LOG = LoggerFactory.getLogger(ReportSender.class);
  private static final String PREFIX = "lakewarden.";
  private static final String TOKEN = "LAKEWARDEN_REPORT_TOKEN";
  private static final int MOST_WAITING = 256;
  private static final int CONNECT_MILLIS = 3_000;
  private static final int READ_MILLIS = 5_000;
  private static final int LAST_MILLIS = 3_000;
  private static final long SECONDS_BETWEEN_WARNINGS = 300;

  private final URI uri;
  private final String tokenFile;
  private final long gatherMillis;
  private final UUID id = UUID.randomUUID();
  private final ArrayBlockingQueue<Object> queue = new ArrayBlockingQueue<>(MOST_WAITING);
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private long sequence;
  private long warnedAt = Long.MIN_VALUE;

  private ReportSender(URI uri, String tokenFile, long gatherMillis) {
    this.uri = uri;
    this.tokenFile = tokenFile;
    this.gatherMillis = gatherMillis;
  }

  /** The sender that a catalog's settings ask for; null where they name no address. */
  static ReportSender of(CaseInsensitiveStringMap options) {
    String said = options.getOrDefault(PREFIX + "report-uri", "").trim();
    if (said.isEmpty()) {
      return null;
    }
    URI uri = address(said);
    ReportSender sender =
        new ReportSender(
            uri,
            options.getOrDefault(PREFIX + "report-token-file", ""),
            Settings.number(options, PREFIX, "report-ms", 5_000));
    Thread thread = new Thread(sender::run, "lakewarden-index-reports");
    thread.setDaemon(true);
    thread.start();
    Runtime.getRuntime().addShutdownHook(new Thread(() -> end(thread), "lakewarden-last-report"));
    return sender;
  }

  private static URI address(String said) {
    try {
      URI uri = URI.create(said);
      if (("http".equals(uri.getScheme()) || "https".equals(uri.getScheme()))
          && uri.getHost() != null
          && uri.getUserInfo() == null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Said below. The text may hold a password, so it is not repeated.
    }
    throw new IllegalArgumentException(
        PREFIX + "report-uri must be an http or https address without a password in it");
  }

  /** Take a report that dropped something; false where the queue is full. */
  boolean offer(PlanReport report) {
    if (report.uses().isEmpty()) {
      return true;
    }
    return take(report);
  }

  /** Take a query that a cube answered; false where the queue is full. */
  boolean offer(CubeReport report) {
    return take(report);
  }

  private boolean take(Object report) {
    boolean taken = queue.offer(report);
    if (!taken) {
      lost.incrementAndGet();
    }
    return taken;
  }

  /** Plans and queries whose savings the portal has taken in, and those of which it heard nothing. */
  Map<String, Long> counts() {
    return Map.of("sent", sent.get(), "lost", lost.get());
  }

  private void run() {
    List<Object> batch = new ArrayList<>();
    try {
      while (true) {
        batch.add(queue.take());
        TimeUnit.MILLISECONDS.sleep(gatherMillis);
        queue.drainTo(batch);
        send(batch);
        batch.clear();
      }
    } catch (InterruptedException e) {
      queue.drainTo(batch);
      if (!batch.isEmpty()) {
        send(batch);
      }
    }
  }

  /** Send what is gathered, and wait for it for a moment: the program ends. */
  private static void end(Thread thread) {
    thread.interrupt();
    try {
      thread.join(LAST_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void send(List<Object> batch) {
    try {
      ReportBody body = new ReportBody();
      for (Object one : batch) {
        if (one instanceof CubeReport) {
          body.add((CubeReport) one);
        } else {
          body.add((PlanReport) one);
        }
      }
      int status = post(body.json(id, ++sequence));
      if (status / 100 != 2) {
        throw new IOException("it answers " + status);
      }
      sent.addAndGet(batch.size());
    } catch (IOException | RuntimeException e) {
      lost.addAndGet(batch.size());
      long now = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime());
      if (warnedAt == Long.MIN_VALUE || now - warnedAt > SECONDS_BETWEEN_WARNINGS) {
        warnedAt = now;
        LOG.warn("What indexes and cubes saved is not reported to {}: {}", uri.getHost(), e.getMessage());
      }
    }
  }

  private int post(byte[] body) throws IOException {
    HttpURLConnection connection = (HttpURLConnection) uri.toURL().openConnection();
    try {
      connection.setConnectTimeout(CONNECT_MILLIS);
      connection.setReadTimeout(READ_MILLIS);
      // Elsewhere the token is nobody's business.
      connection.setInstanceFollowRedirects(false);
      connection.setRequestMethod("POST");
      connection.setRequestProperty("Content-Type", "application/json");
      String token = token();
      if (!token.isEmpty()) {
        connection.setRequestProperty("Authorization", "Bearer " + token);
      }
      connection.setDoOutput(true);
      connection.setFixedLengthStreamingMode(body.length);
      try (OutputStream out = connection.getOutputStream()) {
        out.write(body);
      }
      return connection.getResponseCode();
    } finally {
      connection.disconnect();
    }
  }

  /** Read each time, so that a token may be changed while a driver runs. */
  private String token() throws IOException {
    if (tokenFile.isEmpty()) {
      String said = System.getenv(TOKEN);
      return said == null ? "" : said.trim();
    }
    return new String(Files.readAllBytes(Paths.get(tokenFile)), StandardCharsets.UTF_8).trim();
  }
}
