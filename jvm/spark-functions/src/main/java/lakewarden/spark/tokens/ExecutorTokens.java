package lakewarden.spark.tokens;

import java.util.Map;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.deploy.SparkHadoopUtil;

/**
 * Takes the newest tokens from the driver before an executor's first task. It is registered by then,
 * so the scheduler sends it all later ones.
 */
final class ExecutorTokens implements ExecutorPlugin {
  @Override
  public void init(PluginContext plugin, Map<String, String> settings) {
    byte[] tokens;
    try {
      tokens = (byte[]) plugin.ask("tokens");
    } catch (Exception error) {
      throw new IllegalStateException("The driver gave no delegation tokens.", error);
    }
    SparkHadoopUtil.get().addDelegationTokens(tokens, plugin.conf());
  }
}
