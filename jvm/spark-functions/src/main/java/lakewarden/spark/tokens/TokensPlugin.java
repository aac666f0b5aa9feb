package lakewarden.spark.tokens;

import org.apache.spark.api.plugin.DriverPlugin;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.SparkPlugin;

/**
 * Gives executors of Spark's standalone master delegation tokens, as Spark itself does on YARN and
 * Kubernetes. Tokens go from the driver to executors by Spark's own calls alone, which must be
 * encrypted: {@link DriverTokens} refuses to start otherwise.
 */
public final class TokensPlugin implements SparkPlugin {
  @Override
  public DriverPlugin driverPlugin() {
    return new DriverTokens();
  }

  @Override
  public ExecutorPlugin executorPlugin() {
    return new ExecutorTokens();
  }
}
