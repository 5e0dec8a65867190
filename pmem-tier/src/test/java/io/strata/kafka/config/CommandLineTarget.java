package io.strata.kafka.config;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.fuzz.FuzzTarget;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * The command line of a JVM: words between line ends, first what {@code -Dstrata.config} names,
 * then the JVM's own arguments, a line {@code --}, the main class and its arguments.
 */
final class CommandLineTarget implements FuzzTarget {

  @Override
  public String name() {
    return "command-line";
  }

  @Override
  public void run(byte[] input) {
    List<String> lines = Arrays.asList(FuzzTarget.text(input).split("\n", -1));
    Optional<String> configured = Optional.of(lines.get(0)).filter(text -> !text.equals("-"));
    List<String> exact = new ArrayList<>(lines.subList(1, lines.size()));
    int main = exact.indexOf("--");
    if (main >= 0) {
      exact.remove(main);
    }
    List<String> words = exact.subList(Math.max(0, main), exact.size());
    String command = String.join(" ", words);
    look(CommandLineArguments.of(command, exact, configured));
    look(CommandLineArguments.of(command, List.of(), configured));
  }

  private static void look(CommandLineArguments arguments) {
    assertThat(arguments.isBroker() && arguments.isKafkaTool())
        .as("a tool is no broker, whatever it is given")
        .isFalse();
    if (!arguments.isBroker()) {
      assertThat(arguments.overrides()).isEmpty();
    }
    try {
      Optional<BrokerProperties> loaded = arguments.load();
      assertThat(loaded.isPresent()).isEqualTo(arguments.propertiesFile().isPresent());
    } catch (IOException e) {
      assertThat(e.getMessage()).as("what the file system says, or we").isNotNull();
    }
  }

  @Override
  public List<byte[]> seeds() {
    return List.of(
        FuzzTarget.text("-\njava\n-Xmx1g\n--\nkafka.Kafka\n/no/such.properties\n--override\na=b"),
        FuzzTarget.text("/no/such\njava\n--\norg.apache.kafka.tools.DumpLogSegments\n--files\nx"),
        FuzzTarget.text("-\njava\n--\norg.example.Wrapper\n/no/such.properties"),
        FuzzTarget.text("-\njava\n--\nkafka.Kafka\n--override=a"),
        FuzzTarget.text("-\njava\n--\nkafka.Kafka\n/with\u0000zero"),
        FuzzTarget.text("with\u0000zero\njava\n--\nx.Y"),
        FuzzTarget.text("-"));
  }

  @Override
  public List<String> words() {
    return List.of(
        "\n",
        "--",
        "--override",
        "--override=",
        "kafka.Kafka",
        "org.apache.kafka.",
        ".properties",
        " ",
        "=",
        "\u0000",
        "/");
  }
}
