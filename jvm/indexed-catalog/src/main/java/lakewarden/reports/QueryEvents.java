package lakewarden.reports;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import lakewarden.cubes.Catalyst;
import org.apache.spark.SparkContext;
import org.apache.spark.executor.TaskMetrics;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.apache.spark.scheduler.SparkListenerJobStart;
import org.apache.spark.scheduler.SparkListenerStageCompleted;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.ui.SparkListenerSQLExecutionEnd;
import org.apache.spark.sql.internal.SQLConf;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears the ends of queries and what their stages read, in a queue of Spark's for itself: neither
 * queries nor other listeners wait for it.
 */
final class QueryEvents extends SparkListener {
  private static final Logger LOG = LoggerFactory.getLogger(QueryEvents.class);
  private static final String QUEUE = "lakewardenQueries";
  private static final String EXECUTION = "spark.sql.execution.id";
  private static final String CATALOG = "spark.sql.catalog.";
  private static final String URI_KEY = ".lakewarden.scan-report-uri";
  private static final String TOKEN_KEY = ".lakewarden.report-token-file";
  private static final String REPORTER_KEY = ".metrics-reporter-impl";
  private static final String ENABLED = "spark.lakewarden.queries.enabled";
  private static final String TEXT = "spark.lakewarden.queries.text";
  private static final int MOST_RUNNING = 4_096;
  private static final int MOST_SENDERS = 64;

  private static final Map<SparkContext, QueryEvents> HEARD = new WeakHashMap<>();

  /** What is known of an execution before it has ended. */
  private static final class Running {
    final List<Integer> stages = new ArrayList<>();
    long bytes;
  }

  private final Application application;
  private final Map<Integer, Long> executions = new HashMap<>();
  private final Map<Long, Running> running = new LinkedHashMap<>();
  private final Map<List<String>, QuerySender> senders = new ConcurrentHashMap<>();
  private final Set<String> warned = Collections.newSetFromMap(new ConcurrentHashMap<>());

  private QueryEvents(SparkContext context) {
    application =
        new Application(
            context.applicationId(), context.appName(), context.sparkUser(), context.version());
  }

  /** Hear a context's queries, once. */
  static void listenTo(SparkContext context) {
    synchronized (HEARD) {
      if (!HEARD.containsKey(context)) {
        QueryEvents events = new QueryEvents(context);
        context.listenerBus().addToQueue(events, QUEUE);
        HEARD.put(context, events);
      }
    }
  }

  /** By catalog, how many queries the portal was told of, and how many not. */
  static Map<String, Map<String, Long>> counts(SparkContext context) {
    Map<String, Map<String, Long>> found = new HashMap<>();
    synchronized (HEARD) {
      QueryEvents events = HEARD.get(context);
      if (events != null) {
        events.senders.forEach((key, sender) -> found.put(key.get(1), sender.counts()));
      }
    }
    return found;
  }

  @Override
  public void onJobStart(SparkListenerJobStart event) {
    Properties properties = event.properties();
    String said = properties == null ? null : properties.getProperty(EXECUTION);
    if (said == null) {
      return;
    }
    try {
      long execution = Long.parseLong(said);
      Running one = running.computeIfAbsent(execution, none -> new Running());
      for (Object stage : Catalyst.list(event.stageIds())) {
        one.stages.add((Integer) stage);
        executions.put((Integer) stage, execution);
      }
      // An end may be lost with a full queue of Spark's.
      if (running.size() > MOST_RUNNING) {
        forget(running.keySet().iterator().next());
      }
    } catch (NumberFormatException e) {
      // No execution of Spark's.
    }
  }

  @Override
  public void onStageCompleted(SparkListenerStageCompleted event) {
    Long execution = executions.get(event.stageInfo().stageId());
    Running one = execution == null ? null : running.get(execution);
    TaskMetrics metrics = event.stageInfo().taskMetrics();
    if (one != null && metrics != null) {
      one.bytes += metrics.inputMetrics().bytesRead();
    }
  }

  private Running forget(long execution) {
    Running one = running.remove(execution);
    if (one != null) {
      one.stages.forEach(executions::remove);
    }
    return one;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (!(event instanceof SparkListenerSQLExecutionEnd)) {
      return;
    }
    SparkListenerSQLExecutionEnd end = (SparkListenerSQLExecutionEnd) event;
    Running known = forget(end.executionId());
    if (end.qe() == null) {
      return;
    }
    try {
      SQLConf conf = end.qe().sparkSession().sessionState().conf();
      if (Boolean.parseBoolean(conf.getConfString(ENABLED, "true"))) {
        report(end, known == null ? 0 : known.bytes, conf);
      }
    } catch (IOException | RuntimeException | LinkageError | StackOverflowError e) {
      if (warned.size() < MOST_SENDERS && warned.add(e.getClass().getName())) {
        LOG.warn("A query is not reported", e);
      }
    }
  }

  private void report(SparkListenerSQLExecutionEnd end, long bytes, SQLConf conf)
      throws IOException {
    QueryExecution query = end.qe();
    PlanScans scans = PlanScans.of(query);
    for (String catalog : scans.catalogs()) {
      QuerySender sender = sender(catalog, conf);
      if (sender != null) {
        boolean hasText = Boolean.parseBoolean(conf.getConfString(TEXT, "true"));
        sender.offer(
            new QueryJson(end, bytes, catalog).of(scans, hasText ? QueryText.of(query) : ""));
      }
    }
  }

  /** The sender of a catalog's settings; null where they name no address. */
  private QuerySender sender(String catalog, SQLConf conf) throws IOException {
    String said = conf.getConfString(CATALOG + catalog + URI_KEY, "").trim();
    if (said.isEmpty()) {
      return null;
    }
    String token = conf.getConfString(CATALOG + catalog + TOKEN_KEY, "");
    String reporter = conf.getConfString(CATALOG + catalog + REPORTER_KEY, "");
    List<String> key = List.of(said, catalog, token, reporter);
    QuerySender known = senders.get(key);
    if (known == null && senders.size() < MOST_SENDERS) {
      boolean hasReports = ScanReporter.class.getName().equals(reporter.trim());
      known = QuerySender.to(said, catalog, token, application.with(hasReports));
      senders.put(key, known);
    }
    return known;
  }
}
