import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.ha.HAServiceProtocol;
import org.apache.hadoop.ha.HAServiceProtocol.RequestSource;
import org.apache.hadoop.ha.HAServiceProtocol.StateChangeRequestInfo;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.qjournal.server.JournalNode;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.hdfs.server.namenode.ha.BootstrapStandby;
import org.apache.hadoop.hdfs.tools.NNHAServiceTarget;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

/**
 * The processes of a highly available HDFS, configured by the files on their class path.
 *
 * <p>{@code storage} runs the journal node, the DataNode and what transfers activity. {@code
 * namenode} runs the NameNode that {@code dfs.ha.namenode.id} names, which it formats or copies
 * from the other first.
 */
public final class HaHdfs {
  private static final int TIMEOUT_MILLIS = 5000;

  private HaHdfs() {}

  public static void main(String[] arguments) throws Exception {
    // Without this the second node of a JVM cannot register its metrics.
    DefaultMetricsSystem.setMiniClusterMode(true);
    Configuration configuration = new HdfsConfiguration();
    if (arguments[0].equals("storage")) {
      runStorage(configuration, Integer.parseInt(arguments[1]));
    } else {
      configuration.set("dfs.ha.namenode.id", arguments[1]);
      runNameNode(configuration, arguments[2].equals("first"));
    }
  }

  private static void runStorage(Configuration configuration, int controlPort) throws Exception {
    JournalNode journal = new JournalNode();
    journal.setConf(configuration);
    journal.start();
    DataNode.createDataNode(new String[0], configuration);
    try (ServerSocket control =
        new ServerSocket(controlPort, 16, InetAddress.getLoopbackAddress())) {
      while (true) {
        try (Socket client = control.accept()) {
          answer(client, configuration);
        }
      }
    }
  }

  /** Answers one line: a state ("active", "standby" or "state") and a NameNode's id. */
  private static void answer(Socket client, Configuration configuration) throws IOException {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.UTF_8));
    PrintWriter out = new PrintWriter(client.getOutputStream(), true, StandardCharsets.UTF_8);
    String line = in.readLine();
    if (line == null) {
      return;
    }
    String[] words = line.split(" ");
    try {
      out.println(transition(words[0], words[1], configuration));
    } catch (IOException refused) {
      out.println("failed " + refused.getMessage().split("\n")[0]);
    }
  }

  private static String transition(String state, String nameNode, Configuration configuration)
      throws IOException {
    String service = configuration.get("dfs.nameservices");
    HAServiceProtocol proxy =
        new NNHAServiceTarget(configuration, service, nameNode)
            .getProxy(configuration, TIMEOUT_MILLIS);
    StateChangeRequestInfo request =
        new StateChangeRequestInfo(RequestSource.REQUEST_BY_USER_FORCED);
    if (state.equals("active")) {
      proxy.transitionToActive(request);
    } else if (state.equals("standby")) {
      proxy.transitionToStandby(request);
    }
    return proxy.getServiceStatus().getState().toString();
  }

  private static void runNameNode(Configuration configuration, boolean isFirst) throws Exception {
    NameNode.initializeGenericKeys(
        configuration,
        configuration.get("dfs.nameservices"),
        configuration.get("dfs.ha.namenode.id"));
    URI names = new URI(configuration.get("dfs.namenode.name.dir"));
    if (!new File(names.getPath(), "current/VERSION").exists()) {
      if (isFirst) {
        NameNode.format(configuration);
      } else if (BootstrapStandby.run(new String[] {"-nonInteractive"}, configuration) != 0) {
        throw new IOException("The standby could not copy the image of the first NameNode.");
      }
    }
    NameNode.createNameNode(new String[0], configuration).join();
  }
}
