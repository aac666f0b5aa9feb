package lakewarden.spark;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DFSUtilClient;
import org.apache.hadoop.hdfs.HAUtilClient;
import org.apache.hadoop.ipc.ProtobufRpcEngine2;
import org.apache.hadoop.ipc.RPC;
import org.apache.hadoop.net.NetUtils;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.hadoop.tools.protocolPB.GetUserMappingsProtocolClientSideTranslatorPB;
import org.apache.hadoop.tools.protocolPB.GetUserMappingsProtocolPB;

/** The groups of an account as a file system judges by them: HDFS's are the NameNode's. */
public final class AccountGroups {
  private static final String SERVICE = "hadoop.security.service.user.name.key";
  private static final String NAME_NODE = "dfs.namenode.kerberos.principal";
  private static final int PORT = 8020;
  private static final int MILLIS = 20_000;

  private AccountGroups() {}

  /** Ask the file system; a nameservice's NameNodes in turn, because a standby answers too. */
  public static List<String> of(FileSystem system, String account) throws IOException {
    if (!"hdfs".equals(system.getScheme())) {
      return List.of(UserGroupInformation.createRemoteUser(account).getGroupNames());
    }
    Configuration conf = new Configuration(system.getConf());
    // The protocol has no principal of its own: on a secured cluster the call would be refused.
    conf.set(SERVICE, conf.get(NAME_NODE, ""));
    RPC.setProtocolEngine(conf, GetUserMappingsProtocolPB.class, ProtobufRpcEngine2.class);
    IOException failed = new IOException("No NameNode of " + system.getUri() + " is known.");
    for (InetSocketAddress address : addresses(conf, system.getUri())) {
      try {
        return ask(conf, address, account);
      } catch (IOException error) {
        failed = error;
      }
    }
    throw failed;
  }

  private static List<String> ask(Configuration conf, InetSocketAddress address, String account)
      throws IOException {
    GetUserMappingsProtocolPB door =
        RPC.getProxy(
            GetUserMappingsProtocolPB.class,
            RPC.getProtocolVersion(GetUserMappingsProtocolPB.class),
            address,
            UserGroupInformation.getCurrentUser(),
            conf,
            NetUtils.getDefaultSocketFactory(conf),
            MILLIS);
    try {
      return List.of(new GetUserMappingsProtocolClientSideTranslatorPB(door).getGroupsForUser(account));
    } finally {
      RPC.stopProxy(door);
    }
  }

  private static Collection<InetSocketAddress> addresses(Configuration conf, URI uri) {
    if (!HAUtilClient.isLogicalUri(conf, uri)) {
      return List.of(NetUtils.createSocketAddr(uri.getAuthority(), PORT));
    }
    Map<String, InetSocketAddress> found = DFSUtilClient.getHaNnRpcAddresses(conf).get(uri.getHost());
    return found == null ? List.of() : new ArrayList<>(found.values());
  }
}
