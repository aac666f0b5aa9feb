package lakewarden.spark.tokens;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.deploy.security.HadoopDelegationTokenManager;
import org.apache.spark.scheduler.cluster.CoarseGrainedSchedulerBackend;

/**
 * Logs the driver in by the keytab and runs Spark's own manager of tokens, which the standalone
 * scheduler does not start. The manager gets new tokens after three quarters of their life, and the
 * scheduler sends them to all executors.
 */
final class DriverTokens implements DriverPlugin {
  private static final List<String> REQUIRED =
      List.of("spark.authenticate", "spark.network.crypto.enabled");
  private static final long WAIT_SECONDS = 100;

  private final CompletableFuture<byte[]> first = new CompletableFuture<>();
  private SparkContext context;
  private CoarseGrainedSchedulerBackend backend;
  private HadoopDelegationTokenManager manager;

  /** Log in before anything opens a file: spark-submit does so for other masters only. */
  @Override
  public Map<String, String> init(SparkContext started, PluginContext plugin) {
    context = started;
    SparkConf conf = started.conf();
    for (String name : REQUIRED) {
      if (!conf.getBoolean(name, false)) {
        throw new IllegalStateException(
            "Delegation tokens would go to executors in clear text: set " + name + ".");
      }
    }
    try {
      UserGroupInformation.loginUserFromKeytab(
          conf.get("spark.kerberos.principal"), conf.get("spark.kerberos.keytab"));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
    return Map.of();
  }

  /** Start the manager: this is the first call after the scheduler exists. */
  @Override
  public void registerMetrics(String application, PluginContext plugin) {
    backend = (CoarseGrainedSchedulerBackend) context.schedulerBackend();
    manager =
        new HadoopDelegationTokenManager(
            context.conf(), context.hadoopConfiguration(), backend.driverEndpoint());
    byte[] tokens = manager.start();
    if (tokens == null) {
      throw new IllegalStateException(
          "No delegation tokens could be had; the warning above has the reason.");
    }
    first.complete(tokens);
  }

  /** Return the newest tokens; an executor that starts early waits for the first ones. */
  @Override
  public Object receive(Object message) throws Exception {
    byte[] tokens = first.get(WAIT_SECONDS, TimeUnit.SECONDS);
    byte[] newest = backend.currentDelegationTokens();
    return newest == null ? tokens : newest;
  }

  @Override
  public void shutdown() {
    if (manager != null) {
      manager.stop();
    }
  }
}
