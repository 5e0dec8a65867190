package io.strata.kafka.config;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Properties;

/**
 * The command line of a JVM, and what it says of a broker: the main class, the properties file and
 * the overrides.
 *
 * <p>A broker is a JVM whose main class is {@code kafka.Kafka}, or a wrapper: another one, whose
 * first argument is a properties file of a broker, which it hands on. All else, {@code
 * kafka-dump-log.sh} for one, is a tool, and a program whose first argument is a client's
 * properties is too; {@code -Dstrata.config=} gives both a properties file, and makes no broker of
 * a tool.
 */
public final class CommandLineArguments {

  /** The system property that names the properties file: {@code -Dstrata.config=<file>}. */
  public static final String CONFIG_PROPERTY = "strata.config";

  private static final String BROKER_MAIN_CLASS = "kafka.Kafka";
  private static final List<String> KAFKA_TOOLS =
      List.of("org.apache.kafka.", "kafka.tools.", "kafka.admin.");
  private static final String OVERRIDE = "--override";

  private final String mainClass;
  private final List<String> arguments;
  private final Optional<String> configured;
  private final boolean broker;

  private CommandLineArguments(
      String mainClass, List<String> arguments, Optional<String> configured) {
    this.mainClass = mainClass;
    this.arguments = List.copyOf(arguments);
    this.configured = configured;
    this.broker = mainClass.equals(BROKER_MAIN_CLASS) || isWrapper();
  }

  /**
   * The command line of this JVM. The exact arguments come from {@code /proc}, where there is one:
   * the JVM's own system property has lost which space is part of an argument, and {@link
   * ProcessHandle} gives nothing for a command line as long as a broker's.
   */
  public static CommandLineArguments ofThisJvm() {
    String command = System.getProperty("sun.java.command", "");
    return of(
        command,
        readProc(new File("/proc/self/cmdline")),
        Optional.ofNullable(System.getProperty(CONFIG_PROPERTY)));
  }

  /**
   * A command line of the given parts. Reads the file that the first argument names, where that
   * decides whether this is a broker.
   *
   * @param command main class and arguments, with a space between any two
   * @param exact the process' arguments with the JVM's own before them; may be empty
   * @param configured the value of {@code -Dstrata.config=}
   */
  public static CommandLineArguments of(
      String command, List<String> exact, Optional<String> configured) {
    List<String> words = split(command, exact);
    Optional<String> file = configured.filter(value -> !value.isBlank());
    return words.isEmpty()
        ? new CommandLineArguments("", List.of(), file)
        : new CommandLineArguments(words.get(0), words.subList(1, words.size()), file);
  }

  private static List<String> split(String command, List<String> exact) {
    // The command is the exact arguments from the main class on, joined.
    for (int first = 0; first < exact.size(); first++) {
      if (command.startsWith(exact.get(first))
          && String.join(" ", exact.subList(first, exact.size())).equals(command)) {
        return exact.subList(first, exact.size());
      }
    }
    return command.isBlank() ? List.of() : Arrays.asList(command.strip().split(" +"));
  }

  private static List<String> readProc(File file) {
    // FileInputStream, not Files: this may run while the default provider is being set up.
    try (InputStream in = new FileInputStream(file)) {
      byte[] bytes = in.readAllBytes();
      // The kernel gives bytes; they are in the encoding that the JVM itself decodes them with.
      String encoding = System.getProperty("sun.jnu.encoding", "UTF-8");
      Charset charset =
          Charset.isSupported(encoding) ? Charset.forName(encoding) : StandardCharsets.UTF_8;
      String text = new String(bytes, charset);
      return text.isEmpty() ? List.of() : Arrays.asList(text.substring(0, end(text)).split("\0"));
    } catch (IOException e) {
      return List.of(); // No /proc here; the system property has to do.
    }
  }

  private static int end(String text) {
    return text.endsWith("\0") ? text.length() - 1 : text.length();
  }

  /** The main class, or the jar's name after {@code -jar}; empty if it is not known. */
  public String mainClass() {
    return mainClass;
  }

  public List<String> arguments() {
    return arguments;
  }

  /** Returns whether this JVM is a broker; only a broker opens a pool for writing. */
  public boolean isBroker() {
    return broker;
  }

  /**
   * Returns whether this is one of Kafka's own tools, which is no broker whatever else is said: a
   * tool is given the same {@code KAFKA_OPTS} as the broker.
   */
  public boolean isKafkaTool() {
    return KAFKA_TOOLS.stream().anyMatch(mainClass::startsWith);
  }

  private boolean isWrapper() {
    return !isKafkaTool()
        && !arguments.isEmpty()
        && arguments.get(0).endsWith(".properties")
        && isOfABroker(new File(arguments.get(0)));
  }

  /** Clients are given properties files too; no client's has a role and a log directory. */
  private static boolean isOfABroker(File file) {
    Properties properties = new Properties();
    try (InputStream in = new FileInputStream(file)) {
      properties.load(in);
    } catch (IOException | IllegalArgumentException e) {
      return false; // A file that cannot be read starts no broker.
    }
    return properties.containsKey(BrokerProperties.PROCESS_ROLES)
        && (properties.containsKey(BrokerProperties.LOG_DIRS)
            || properties.containsKey(BrokerProperties.LOG_DIR));
  }

  /** The properties file: what {@code -Dstrata.config=} names, or a broker's first argument. */
  public Optional<Path> propertiesFile() {
    if (configured.isPresent()) {
      return configured.map(Path::of);
    }
    return isBroker() && !arguments.isEmpty() && !arguments.get(0).startsWith("--")
        ? Optional.of(Path.of(arguments.get(0)))
        : Optional.empty();
  }

  /** A broker's {@code --override key=value}s, in their order; empty for a tool. */
  public List<String> overrides() {
    if (!isBroker()) {
      return List.of();
    }
    List<String> overrides = new ArrayList<>();
    for (int i = 0; i < arguments.size(); i++) {
      String argument = arguments.get(i);
      if (i > 0 && arguments.get(i - 1).equals(OVERRIDE)) {
        overrides.add(argument);
      } else if (argument.startsWith(OVERRIDE + "=")) {
        overrides.add(argument.substring(OVERRIDE.length() + 1));
      }
    }
    return overrides;
  }

  /** Loads what {@link #propertiesFile} and {@link #overrides} name; empty if there is no file. */
  public Optional<BrokerProperties> load() throws IOException {
    Optional<Path> file;
    try {
      file = propertiesFile();
    } catch (InvalidPathException e) {
      throw new IOException(
          """
          The command line: found a properties file whose name is no path here (%s), expected \
          one; correct %s, or start the JVM in a locale whose encoding has its letters\
          """
              .formatted(
                  e.getMessage(),
                  configured.isPresent() ? "-D" + CONFIG_PROPERTY : "the broker's first argument"),
          e);
    }
    return file.isPresent()
        ? Optional.of(BrokerProperties.load(file.get(), overrides(), Path.of("")))
        : Optional.empty();
  }
}
