package io.strata.kafka.config;

import io.strata.kafka.config.key.ConfigProblem;
import io.strata.kafka.config.key.ConfigRefusedException;
import io.strata.kafka.config.key.Parsed;
import io.strata.kafka.config.key.ServiceLinks;
import io.strata.kafka.migration.remote.RemoteEnvironment.KafkaReads;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A broker's {@code server.properties} with its {@code --override}s, read as {@code kafka.Kafka}
 * reads them.
 *
 * <p>Values given through a configuration provider ({@code ${file:...}}) are not resolved; where
 * Strata needs such a key, {@link #check()} refuses it.
 */
public final class BrokerProperties {
  static final String LOG_DIRS = "log.dirs";
  static final String LOG_DIR = "log.dir";
  static final String LOG_DIR_DEFAULT = "/tmp/kafka-logs";
  static final String METADATA_LOG_DIR = "metadata.log.dir";
  static final String NODE_ID = "node.id";
  static final String PROCESS_ROLES = "process.roles";
  static final String BROKER_ID = "broker.id";
  static final String LOG_PREALLOCATE = "log.preallocate";
  static final String METRIC_REPORTERS = "metric.reporters";
  static final String REMOTE_STORAGE_MANAGER = "remote.log.storage.manager.class";

  static final String REMOTE_FETCH_MAX_WAIT = "remote.fetch.max.wait.ms";
  static final String REMOTE_READER_THREADS = "remote.log.reader.threads";
  public static final String REMOTE_PENDING_READS = "remote.log.reader.max.pending.tasks";
  private static final int REMOTE_PENDING_READS_DEFAULT = 100;
  private static final int REMOTE_METADATA_REPLICAS_DEFAULT = 3;

  private final String source;
  private final Map<String, String> properties;
  private final ServiceLinks links;
  private final Path workingDirectory;

  private BrokerProperties(String source, Map<String, String> all, Path workingDirectory) {
    this.source = source;
    this.workingDirectory = workingDirectory;
    this.links = ServiceLinks.in(all);
    Map<String, String> own = new HashMap<>(all);
    own.keySet().removeAll(links.keys());
    this.properties = Map.copyOf(own);
  }

  /**
   * Loads the file, then applies the overrides.
   *
   * @param file the properties file, in the JDK's properties format (ISO 8859-1)
   * @param overrides {@code key=value} each, a missing value being the empty one; the last one of a
   *     key wins
   * @param workingDirectory the broker's; empty for this process's
   * @throws IOException if the file cannot be read or is malformed, naming it
   */
  public static BrokerProperties load(Path file, List<String> overrides, Path workingDirectory)
      throws IOException {
    Properties loaded = new Properties();
    try (InputStream in = Files.newInputStream(file)) {
      loaded.load(in);
    } catch (IllegalArgumentException e) {
      throw new IOException(
          """
          %s: found a malformed Unicode escape, expected the JDK's properties format; correct the \
          file (%s)\
          """
              .formatted(file, e.getMessage()),
          e);
    }
    Map<String, String> properties = new TreeMap<>();
    loaded.forEach((key, value) -> properties.put(key.toString(), value.toString()));
    for (String override : overrides) {
      int equals = override.indexOf('=');
      if (equals < 0) {
        properties.put(override, "");
      } else {
        properties.put(override.substring(0, equals), override.substring(equals + 1));
      }
    }
    BrokerProperties broker = new BrokerProperties(file.toString(), properties, workingDirectory);
    broker.requirePaths();
    return broker;
  }

  /** Refuses log directories that this JVM cannot name: they are never left out silently. */
  private void requirePaths() throws IOException {
    try {
      List<Path> unused = logDirs();
      Path unusedToo = metadataLogDir();
    } catch (InvalidPathException e) {
      throw new IOException(
          """
          %s: found a log directory that is no path here (%s), expected paths in %s, %s and %s; \
          correct it, or start the JVM in a locale whose encoding has its letters\
          """
              .formatted(source, e.getReason(), LOG_DIRS, LOG_DIR, METADATA_LOG_DIR),
          e);
    }
  }

  /** The given keys and values, for example those that Kafka hands to a plugin. */
  public static BrokerProperties of(String source, Map<String, String> properties) {
    return new BrokerProperties(source, properties, Path.of(""));
  }

  /** Returns where the values come from, for messages: the file's name. */
  public String source() {
    return source;
  }

  /** All keys and values, as written, without those of {@link #links}. */
  public Map<String, String> asMap() {
    return properties;
  }

  /** Keys that come from the addresses of Kubernetes services. */
  ServiceLinks links() {
    return links;
  }

  /** The value as written, stripped; empty if the key is absent or the value blank. */
  public Optional<String> get(String key) {
    return Optional.ofNullable(properties.get(key)).map(String::strip).filter(v -> !v.isEmpty());
  }

  /** The log directories, absolute: {@code log.dirs}, {@code log.dir}, or Kafka's default. */
  public List<Path> logDirs() {
    return logDirNames().stream().map(this::absolute).toList();
  }

  /** Older releases of Kafka leave out what is empty between two commas; newer ones refuse it. */
  private List<String> logDirNames() {
    return list(get(LOG_DIRS).or(() -> get(LOG_DIR)).orElse(LOG_DIR_DEFAULT)).stream()
        .filter(name -> !name.isEmpty())
        .toList();
  }

  private Path absolute(String name) {
    return workingDirectory.resolve(name).toAbsolutePath().normalize();
  }

  /** The log directories, as written, whose place depends on the broker's working directory. */
  public List<String> relativeLogDirs() {
    return Stream.concat(logDirNames().stream(), get(METADATA_LOG_DIR).stream())
        .filter(name -> !Path.of(name).isAbsolute())
        .distinct()
        .toList();
  }

  /** The directory of {@code __cluster_metadata}: the first log directory unless it is set. */
  public Path metadataLogDir() {
    return get(METADATA_LOG_DIR)
        .map(this::absolute)
        .orElseGet(() -> logDirs().stream().findFirst().orElseGet(() -> absolute("")));
  }

  /** {@code node.id}, otherwise {@code broker.id}; empty if neither is a number from 0. */
  public OptionalInt nodeId() {
    return number(get(NODE_ID).isPresent() ? NODE_ID : BROKER_ID, 0); // Kafka refuses another.
  }

  /** Returns whether the node is only a controller: it has no topics; Strata leaves it alone. */
  public boolean isControllerAlone() {
    return isController() && !list(get(PROCESS_ROLES).orElse("")).contains("broker");
  }

  private boolean isController() {
    return list(get(PROCESS_ROLES).orElse("")).contains("controller");
  }

  /** {@code log.preallocate}; false unless it is {@code true}. */
  public boolean logPreallocate() {
    return get(LOG_PREALLOCATE).filter("true"::equalsIgnoreCase).isPresent();
  }

  /** The classes of {@code metric.reporters}; Kafka's default if it is absent. */
  public List<String> metricReporters() {
    // Present and empty means none; absent means Kafka's default.
    return properties.containsKey(METRIC_REPORTERS)
        ? list(properties.getOrDefault(METRIC_REPORTERS, ""))
        : List.of(BrokerChecks.JMX_REPORTER);
  }

  public boolean namesReporter() {
    return metricReporters().contains(BrokerChecks.STRATA_REPORTER);
  }

  public Optional<String> remoteStorageManagerClassName() {
    return get(REMOTE_STORAGE_MANAGER + ".name");
  }

  public Optional<String> remoteStorageManagerClassPath() {
    return get(REMOTE_STORAGE_MANAGER + ".path");
  }

  public boolean hasOwnManager() {
    return remoteStorageManagerClassName().equals(Optional.of(RemoteLevels.OWN_MANAGER));
  }

  /** Returns how Kafka reads from the remote tier; Kafka refuses a value that is no number. */
  public KafkaReads remoteReads() {
    KafkaReads usual = KafkaReads.DEFAULT;
    return new KafkaReads(
        Duration.ofMillis(
            number(REMOTE_FETCH_MAX_WAIT, 1).orElse((int) usual.maxWait().toMillis())),
        number(REMOTE_READER_THREADS, 1).orElse(usual.threads()));
  }

  public int remotePendingReads() {
    return number(REMOTE_PENDING_READS, 1).orElse(REMOTE_PENDING_READS_DEFAULT);
  }

  /**
   * Returns whether Kafka keeps the metadata of tiered storage in its own topic: tiered storage is
   * on, and its manager of metadata is the default one.
   */
  public boolean hasKafkasRemoteMetadata() {
    return get("remote.log.storage.system.enable").filter("true"::equalsIgnoreCase).isPresent()
        && get("remote.log.metadata.manager.class.name")
            .filter(name -> !name.endsWith(".TopicBasedRemoteLogMetadataManager"))
            .isEmpty();
  }

  /** The key of {@link #remoteMetadataReplicas}, with its prefix. */
  public String remoteMetadataReplicasKey() {
    return "%sremote.log.metadata.topic.replication.factor"
        .formatted(get("remote.log.metadata.manager.impl.prefix").orElse("rlmm.config."));
  }

  /** Returns how many replicas Kafka's topic of remote metadata has when Kafka creates it. */
  public int remoteMetadataReplicas() {
    return number(remoteMetadataReplicasKey(), 1).orElse(REMOTE_METADATA_REPLICAS_DEFAULT);
  }

  /** Returns how many controllers a node that is one as well names; 0 for other nodes. */
  public int combinedVoters() {
    return isController()
        ? get("controller.quorum.voters")
            .or(() -> get("controller.quorum.bootstrap.servers"))
            .map(voters -> list(voters).size())
            .orElse(0)
        : 0;
  }

  private OptionalInt number(String key, int least) {
    try {
      return get(key).map(Integer::parseInt).filter(value -> value >= least).stream()
          .mapToInt(Integer::intValue)
          .findAny();
    } catch (NumberFormatException e) {
      return OptionalInt.empty();
    }
  }

  /** Returns whether the broker has Strata's remote tier, and no key of a pool. */
  public boolean hasRemoteTierAlone() {
    return hasOwnManager()
        && properties.keySet().stream().noneMatch(key -> key.startsWith("strata."));
  }

  public Parsed<StrataConfig> strataConfig() {
    return StrataConfig.parse(properties);
  }

  /** Finds errors and warnings in those of Kafka's own keys that Strata depends on. */
  public List<ConfigProblem> check() {
    return BrokerChecks.check(this);
  }

  /** The {@code strata.*} values; refused with every error in them or in Kafka's own keys. */
  public StrataConfig checkedConfig() throws ConfigRefusedException {
    Parsed<StrataConfig> parsed = strataConfig();
    List<ConfigProblem> problems = new ArrayList<>(parsed.problems());
    problems.addAll(check());
    if (problems.stream().anyMatch(ConfigProblem::isError)) {
      throw new ConfigRefusedException(problems);
    }
    return parsed.orElseThrow();
  }

  /** Splits as Kafka does for a value of type list. */
  static List<String> list(String value) {
    return value.isBlank() ? List.of() : Arrays.asList(value.strip().split("\\s*,\\s*", -1));
  }

  /** Splits as the JVM does for a class path. */
  static List<String> classPath(String value) {
    return Arrays.stream(value.split(File.pathSeparator))
        .map(String::strip)
        .filter(entry -> !entry.isEmpty())
        .toList();
  }

  /**
   * The files and directories of a class path of the JVM, of a shell or of Kafka's: {@code
   * directory/*} is every jar of the directory, in order. Uses java.io: the provider may be what is
   * starting.
   */
  public static Stream<File> classPathFiles(String value) {
    return classPath(value).stream().map(File::new).flatMap(BrokerProperties::expanded);
  }

  private static Stream<File> expanded(File entry) {
    if (!entry.getName().equals("*")) {
      return Stream.of(entry);
    }
    File[] jars =
        entry
            .getAbsoluteFile()
            .getParentFile()
            .listFiles((parent, name) -> name.toLowerCase(Locale.ROOT).matches(".*\\.(jar|zip)"));
    return jars == null ? Stream.empty() : Stream.of(jars).sorted();
  }

  /**
   * Describes the first difference to what Kafka has read: whose pools and log directories these
   * are, and every {@code strata.*} key of either. A key that Kafka lacks would be lost with the
   * first change on the live broker, which starts from what Kafka has.
   */
  public Optional<String> difference(BrokerProperties kafka) {
    TreeSet<String> keys = new TreeSet<>(kafka.properties.keySet());
    keys.addAll(properties.keySet());
    return keys.stream()
        .filter(key -> key.startsWith(StrataKeys.PREFIX))
        .flatMap(key -> difference(key, kafka.get(key), get(key)).stream())
        .findFirst()
        .or(() -> difference("node.id", kafka.nodeId(), nodeId()))
        .or(() -> difference("log.dirs", kafka.logDirs(), logDirs()))
        .or(() -> difference("metadata.log.dir", kafka.metadataLogDir(), metadataLogDir()));
  }

  private Optional<String> difference(String key, Object given, Object read) {
    return given.equals(read)
        ? Optional.empty()
        : Optional.of(
            "%s: the broker has %s, Strata read %s from %s: give both the same file (-D%s=)"
                .formatted(
                    key, text(given), text(read), source, CommandLineArguments.CONFIG_PROPERTY));
  }

  private static String text(Object value) {
    return value instanceof Optional<?> optional
        ? optional.map(BrokerProperties::text).orElse("nothing")
        : "'" + value + "'";
  }

  @Override
  public String toString() {
    // Not the values: there are passwords among them.
    return "BrokerProperties[" + source + ", " + properties.size() + " keys]";
  }
}
