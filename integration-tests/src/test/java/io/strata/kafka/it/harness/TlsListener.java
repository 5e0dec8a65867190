package io.strata.kafka.it.harness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A listener with a certificate of its own, made by the JDK's keytool. */
public record TlsListener(int port, Path keystore, Path certificate) {

  private static final String PASSWORD = "changeit";

  /** Makes key and certificate in the folder and finds a port. */
  public static TlsListener create(Path folder) throws IOException, InterruptedException {
    Files.createDirectories(folder);
    Path keystore = folder.resolve("broker.p12");
    Path certificate = folder.resolve("broker.pem");
    keytool(
        folder,
        List.of("-genkeypair", "-alias", "broker", "-keyalg", "EC", "-dname", "CN=broker"),
        List.of("-ext", "SAN=ip:127.0.0.1", "-validity", "365", "-storetype", "PKCS12"),
        keystore);
    keytool(
        folder,
        List.of("-exportcert", "-rfc", "-alias", "broker", "-file", certificate.toString()),
        List.of(),
        keystore);
    return new TlsListener(FreePorts.find(1).get(0), keystore, certificate);
  }

  public String bootstrap() {
    return "127.0.0.1:" + port;
  }

  /** What goes into server.properties. */
  Map<String, String> brokerSettings() {
    return Map.of(
        "ssl.keystore.type",
        "PKCS12",
        "ssl.keystore.location",
        keystore.toString(),
        "ssl.keystore.password",
        PASSWORD,
        "ssl.key.password",
        PASSWORD);
  }

  /** What clients need. */
  public Map<String, String> clientSettings() {
    return Map.of(
        "security.protocol", "SSL",
        "ssl.truststore.type", "PEM",
        "ssl.truststore.location", certificate.toString());
  }

  private static void keytool(Path folder, List<String> command, List<String> more, Path keystore)
      throws IOException, InterruptedException {
    List<String> all = new ArrayList<>();
    all.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    all.addAll(command);
    all.addAll(more);
    all.addAll(List.of("-keystore", keystore.toString(), "-storepass", PASSWORD));
    Path output = folder.resolve("keytool.out");
    Process process =
        new ProcessBuilder(all).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    if (!process.waitFor(60, TimeUnit.SECONDS) || process.exitValue() != 0) {
      throw new AssertionError("keytool failed: " + Files.readString(output));
    }
  }
}
