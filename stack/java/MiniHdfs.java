import java.io.File;
import java.io.InterruptedIOException;
import java.net.URI;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.crypto.key.KeyProvider;
import org.apache.hadoop.crypto.key.KeyProviderFactory;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.datanode.DataNodeFaultInjector;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/** A real NameNode and DataNode in one JVM, configured by the files on its class path. */
public final class MiniHdfs {
  /** Time for the DataNode's report of a block to reach the NameNode. */
  private static final long REPORT_MILLIS = 15;

  private MiniHdfs() {}

  public static void main(String[] arguments) throws Exception {
    // Without this the second node of a JVM cannot register its metrics.
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration configuration = new HdfsConfiguration();
    URI names = new URI(configuration.get("dfs.namenode.name.dir"));
    if (!new File(names.getPath(), "current/VERSION").exists()) {
      NameNode.format(configuration);
    }
    makeKey(configuration);
    DataNodeFaultInjector.set(new LateAcknowledgement());
    NameNode nameNode = NameNode.createNameNode(new String[0], configuration);
    DataNode.createDataNode(new String[0], configuration);
    while (nameNode.isInSafeMode() || nameNode.getNamesystem().getNumLiveDataNodes() < 1) {
      Thread.sleep(50);
    }
    System.out.println("READY");
    nameNode.join();
  }

  /** Encryption zones need a key that the NameNode finds when it starts. */
  private static void makeKey(Configuration configuration) throws Exception {
    List<KeyProvider> providers = KeyProviderFactory.getProviders(configuration);
    if (!providers.isEmpty() && providers.get(0).getMetadata("lake") == null) {
      providers.get(0).createKey("lake", new KeyProvider.Options(configuration));
      providers.get(0).flush();
    }
  }

  /**
   * Acknowledges a block when the NameNode knows it.
   *
   * <p>In one JVM the acknowledgement is faster than the report, so most writers would find their
   * file not complete at its close and sleep half a second before they ask again.
   */
  private static final class LateAcknowledgement extends DataNodeFaultInjector {
    @Override
    public void delayAckLastPacket() throws InterruptedIOException {
      try {
        Thread.sleep(REPORT_MILLIS);
      } catch (InterruptedException interrupted) {
        Thread.currentThread().interrupt();
        throw new InterruptedIOException("interrupted before an acknowledgement");
      }
    }
  }
}
