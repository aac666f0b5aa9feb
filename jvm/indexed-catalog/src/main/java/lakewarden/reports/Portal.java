package lakewarden.reports;

import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;

/** Posts JSON to the portal with a token, within some seconds. */
public final class Portal {
  private static final String TOKEN = "LAKEWARDEN_REPORT_TOKEN";
  private static final int CONNECT_MILLIS = 3_000;
  private static final int READ_MILLIS = 5_000;

  private final String tokenFile;

  /** With the file that holds the token; where it is empty the environment does. */
  public Portal(String tokenFile) {
    this.tokenFile = tokenFile;
  }

  /** Read an address of the portal; `setting` is named where it is none. */
  public static URI address(String said, String setting) {
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
        setting + " must be an http or https address without a password in it");
  }

  /** Post and return the status of the answer. */
  public int post(URI uri, byte[] body) throws IOException {
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
