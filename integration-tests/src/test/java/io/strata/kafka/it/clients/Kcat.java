package io.strata.kafka.it.clients;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.strata.kafka.it.harness.TestMount;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Assumptions;

/**
 * The command {@code kcat}. It sends lines of text, and prints records of any bytes: lengths tell
 * where a key and a value end.
 */
final class Kcat implements RecordClient {

  private static final HexFormat HEX = HexFormat.of();

  /** A null key or value has the length -1. */
  private static final String FORMAT = "%o\\t%T\\t%K\\t%S\\t%k%s%h\\n";

  private final Path folder;

  Kcat(Path folder) throws IOException, InterruptedException {
    Assumptions.assumeTrue(TestMount.isInstalled("kcat"), "kcat is not installed");
    this.folder = folder;
  }

  @Override
  public String version() {
    try {
      return TestMount.output("kcat", "-V")
          .lines()
          .filter(line -> line.startsWith("Version"))
          .findFirst()
          .orElseThrow();
    } catch (IOException e) {
      throw new AssertionError("kcat -V does not run", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError("interrupted", e);
    }
  }

  @Override
  public ClientScript.Dialect dialect() {
    return ClientScript.Dialect.TEXT;
  }

  @Override
  public void produce(
      String bootstrap,
      Target target,
      String codec,
      Optional<String> transactionalId,
      List<String> lines)
      throws IOException, InterruptedException {
    List<String> text = new ArrayList<>();
    for (String line : lines) {
      if (!List.of("begin", "commit").contains(line)) {
        String[] fields = line.split("\t", -1);
        text.add(text(fields[1]) + "\t" + text(fields[2]));
      }
    }
    Path script = Files.createTempFile(folder, "script-", ".txt");
    Files.write(script, text, UTF_8);
    List<String> command = new ArrayList<>(List.of("kcat", "-P", "-b", bootstrap));
    command.addAll(List.of("-t", target.topic(), "-p", "" + target.partition(), "-z", codec));
    command.addAll(List.of("-K", "\t", "-Z", "-H", "sender=kcat"));
    command.addAll(List.of("-X", "enable.idempotence=true"));
    // One transaction, which ends with the input.
    transactionalId.ifPresent(id -> command.addAll(List.of("-X", "transactional.id=" + id)));
    Path unused = ClientProgram.run(folder, script, command);
  }

  @Override
  public Map<Integer, List<String>> consume(
      String bootstrap, String topic, String isolation, Map<Integer, Long> lastOffsets)
      throws IOException, InterruptedException {
    Map<Integer, List<String>> read = new TreeMap<>();
    for (int partition : lastOffsets.keySet()) {
      List<String> command = new ArrayList<>(List.of("kcat", "-C", "-b", bootstrap, "-q", "-e"));
      command.addAll(List.of("-t", topic, "-p", "" + partition, "-o", "beginning"));
      command.addAll(List.of("-X", "isolation.level=" + isolation, "-f", FORMAT));
      Path output = ClientProgram.run(folder, Path.of("/dev/null"), command);
      read.put(partition, lines(Files.readAllBytes(output)));
    }
    return read;
  }

  /** An empty one is sent as null. */
  private static String text(String field) {
    return field.equals(ClientScript.NULL) ? "" : new String(HEX.parseHex(field), UTF_8);
  }

  /** The output, with each byte as a character, in the lines of the other clients. */
  private static List<String> lines(byte[] output) {
    String all = new String(output, ISO_8859_1);
    List<String> lines = new ArrayList<>();
    for (int at = 0; at < all.length(); ) {
      String[] numbers = new String[4];
      for (int i = 0; i < numbers.length; i++) {
        int tab = all.indexOf('\t', at);
        numbers[i] = all.substring(at, tab);
        at = tab + 1;
      }
      int keyEnd = at + Math.max(0, Integer.parseInt(numbers[2]));
      int valueEnd = keyEnd + Math.max(0, Integer.parseInt(numbers[3]));
      int end = all.indexOf('\n', valueEnd);
      List<String> fields = new ArrayList<>(List.of(numbers[0], numbers[1]));
      fields.add(numbers[2].equals("-1") ? ClientScript.NULL : hex(all.substring(at, keyEnd)));
      fields.add(
          numbers[3].equals("-1") ? ClientScript.NULL : hex(all.substring(keyEnd, valueEnd)));
      if (end > valueEnd) {
        for (String header : all.substring(valueEnd, end).split(",", -1)) {
          String[] parts = header.split("=", -1);
          fields.add(
              hex(parts[0]) + "=" + (parts[1].equals("NULL") ? ClientScript.NULL : hex(parts[1])));
        }
      }
      lines.add(String.join("\t", fields));
      at = end + 1;
    }
    return lines;
  }

  private static String hex(String bytes) {
    return HEX.formatHex(bytes.getBytes(ISO_8859_1));
  }
}
