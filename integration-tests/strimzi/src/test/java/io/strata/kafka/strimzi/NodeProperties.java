package io.strata.kafka.strimzi;

import io.strimzi.api.kafka.model.common.metrics.JmxPrometheusExporterMetrics;
import io.strimzi.api.kafka.model.common.metrics.StrimziMetricsReporter;
import io.strimzi.api.kafka.model.kafka.JbodStorage;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.kafka.KafkaClusterSpec;
import io.strimzi.api.kafka.model.kafka.SingleVolumeStorage;
import io.strimzi.api.kafka.model.kafka.listener.GenericKafkaListener;
import io.strimzi.api.kafka.model.kafka.listener.KafkaListenerType;
import io.strimzi.api.kafka.model.kafka.tieredstorage.RemoteStorageManager;
import io.strimzi.api.kafka.model.kafka.tieredstorage.TieredStorageCustom;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import io.strimzi.api.kafka.model.nodepool.ProcessRoles;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The keys and values of the {@code server.properties} that the operator of Strimzi 1.2 writes for
 * a node. Only of what the chart uses: anything else is an error here, not a guess.
 */
final class NodeProperties {

  private static final String CONTROL = "CONTROLPLANE-9090";
  private static final String REPLICATION = "REPLICATION-9091";

  private final Kafka kafka;
  private final KafkaNodePool pool;
  private final int id;
  private final List<String> voters;
  private final Map<String, String> lines = new TreeMap<>();

  private NodeProperties(Resources resources, KafkaNodePool pool, int id) {
    kafka = resources.kafka();
    this.pool = pool;
    this.id = id;
    voters =
        resources.nodePools().stream()
            .filter(other -> other.getSpec().getRoles().contains(ProcessRoles.CONTROLLER))
            .flatMap(
                other ->
                    ids(other).boxed().map(node -> Map.entry(node, host(podName(other, node)))))
            .sorted(Map.Entry.comparingByKey())
            .map(node -> node.getKey() + "@" + node.getValue() + ":9090")
            .toList();
  }

  /** The properties of a node of the pool, sorted by key. */
  static Map<String, String> of(Resources resources, KafkaNodePool pool, int id) {
    NodeProperties node = new NodeProperties(resources, pool, id);
    node.write();
    return node.lines;
  }

  /** The ids that the pool's annotation gives its nodes. */
  static IntStream ids(KafkaNodePool pool) {
    String list = pool.getMetadata().getAnnotations().get("strimzi.io/next-node-ids");
    return Arrays.stream(list.substring(1, list.length() - 1).split(","))
        .mapToInt(text -> Integer.parseInt(text.strip()));
  }

  private String podName(KafkaNodePool of, int node) {
    return "%s-%s-%d".formatted(cluster(), of.getMetadata().getName(), node);
  }

  private String host(String pod) {
    return "%s.%s-kafka-brokers.%s.svc"
        .formatted(pod, cluster(), kafka.getMetadata().getNamespace());
  }

  private String cluster() {
    return kafka.getMetadata().getName();
  }

  private KafkaClusterSpec spec() {
    return kafka.getSpec().getKafka();
  }

  private boolean isBroker() {
    return pool.getSpec().getRoles().contains(ProcessRoles.BROKER);
  }

  private boolean isController() {
    return pool.getSpec().getRoles().contains(ProcessRoles.CONTROLLER);
  }

  private void write() {
    refuse(spec().getRack(), "rack");
    refuse(spec().getAuthorization(), "authorization");
    refuse(spec().getQuotas(), "quotas");
    refuse(kafka.getSpec().getCruiseControl(), "cruiseControl");
    set("node.id", id);
    set(
        "process.roles",
        isBroker() ? isController() ? "broker,controller" : "broker" : "controller");
    set("controller.listener.names", CONTROL);
    set("controller.quorum.voters", String.join(",", voters));
    logDirectories();
    listeners();
    tieredStorage();
    user();
  }

  private static void refuse(Object used, String name) {
    if (used != null) {
      throw new UnsupportedOperationException(
          "what Strimzi writes for " + name + " is not known here");
    }
  }

  private void logDirectories() {
    String folder = "/kafka-log" + id;
    if (!(pool.getSpec().getStorage() instanceof JbodStorage jbod)) {
      set("log.dirs", "/var/lib/kafka/data" + folder);
      set("metadata.log.dir", "/var/lib/kafka/data" + folder);
      return;
    }
    List<SingleVolumeStorage> volumes = jbod.getVolumes();
    set(
        "log.dirs",
        volumes.stream()
            .map(volume -> "/var/lib/kafka/data-" + volume.getId() + folder)
            .collect(Collectors.joining(",")));
    SingleVolumeStorage metadata =
        volumes.stream()
            .filter(volume -> volume.getKraftMetadata() != null)
            .findFirst()
            .or(() -> volumes.stream().min(Comparator.comparing(SingleVolumeStorage::getId)))
            .orElseThrow();
    set("metadata.log.dir", "/var/lib/kafka/data-" + metadata.getId() + folder);
  }

  private void listeners() {
    List<String> listeners = new ArrayList<>();
    List<String> advertised = new ArrayList<>();
    List<String> protocols = new ArrayList<>(List.of(CONTROL + ":SSL"));
    String host = host(podName(pool, id));
    mutualTls(CONTROL);
    if (isController()) {
      listeners.add(CONTROL + "://0.0.0.0:9090");
      advertised.add(CONTROL + "://" + host + ":9090");
    }
    if (isBroker()) {
      protocols.add(REPLICATION + ":SSL");
      listeners.add(REPLICATION + "://0.0.0.0:9091");
      advertised.add(REPLICATION + "://" + host + ":9091");
      mutualTls(REPLICATION);
      for (GenericKafkaListener listener : spec().getListeners()) {
        refuse(listener.getAuth(), "a listener's authentication");
        refuse(listener.getConfiguration(), "a listener's configuration");
        if (listener.getType() != KafkaListenerType.INTERNAL) {
          throw new UnsupportedOperationException("listener of type " + listener.getType());
        }
        String name =
            "%s-%d".formatted(listener.getName().toUpperCase(Locale.ROOT), listener.getPort());
        listeners.add("%s://0.0.0.0:%d".formatted(name, listener.getPort()));
        advertised.add("%s://%s:%d".formatted(name, host, listener.getPort()));
        protocols.add(name + (listener.isTls() ? ":SSL" : ":PLAINTEXT"));
        if (listener.isTls()) {
          keyStore("listener.name." + name.toLowerCase(Locale.ROOT) + ".");
        }
      }
      set("inter.broker.listener.name", REPLICATION);
    }
    set("listeners", String.join(",", listeners));
    set("advertised.listeners", String.join(",", advertised));
    set("listener.security.protocol.map", String.join(",", protocols));
    set("sasl.enabled.mechanisms", "");
    set("ssl.endpoint.identification.algorithm", "HTTPS");
  }

  private void mutualTls(String listener) {
    String prefix = "listener.name." + listener.toLowerCase(Locale.ROOT) + ".";
    keyStore(prefix);
    trustStore(prefix);
    set(prefix + "ssl.client.auth", "required");
  }

  private void keyStore(String prefix) {
    String pod = podName(pool, id);
    set(prefix + "ssl.keystore.certificate.chain", secret(pod, pod + ".crt"));
    set(prefix + "ssl.keystore.key", secret(pod, pod + ".key"));
    set(prefix + "ssl.keystore.type", "PEM");
  }

  private void trustStore(String prefix) {
    set(
        prefix + "ssl.truststore.certificates",
        secret(cluster() + "-trustbundle", "cluster-ca.crt"));
    set(prefix + "ssl.truststore.type", "PEM");
  }

  private String secret(String name, String key) {
    return "${strimzisecrets:%s/%s:%s}".formatted(kafka.getMetadata().getNamespace(), name, key);
  }

  /** On every node, brokers and controllers. */
  private void tieredStorage() {
    if (spec().getTieredStorage() == null) {
      return;
    }
    String client = "rlmm.config.remote.log.metadata.common.client.";
    set("remote.log.storage.system.enable", true);
    set("remote.log.metadata.manager.impl.prefix", "rlmm.config.");
    set(
        "remote.log.metadata.manager.class.name",
        "org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager");
    set("remote.log.metadata.manager.listener.name", REPLICATION);
    set(client + "bootstrap.servers", cluster() + "-kafka-brokers:9091");
    set(client + "security.protocol", "SSL");
    keyStore(client);
    trustStore(client);
    RemoteStorageManager manager =
        ((TieredStorageCustom) spec().getTieredStorage()).getRemoteStorageManager();
    set("remote.log.storage.manager.class.name", manager.getClassName());
    // Without a class path, the text "null".
    set("remote.log.storage.manager.class.path", String.valueOf(manager.getClassPath()));
    set("remote.log.storage.manager.impl.prefix", "rsm.config.");
    manager.getConfig().forEach((key, value) -> set("rsm.config." + key, value));
  }

  /** What the user has set: last, so that it replaces what is there. */
  private void user() {
    List<String> providers = new ArrayList<>(List.of("strimzienv", "strimzisecrets"));
    String provider = "config.providers.";
    set(
        provider + "strimzienv.class",
        "org.apache.kafka.common.config.provider.EnvVarConfigProvider");
    set(provider + "strimzienv.param.allowlist.pattern", ".*");
    set(provider + "strimzisecrets.class", "io.strimzi.kafka.KubernetesSecretConfigProvider");
    if (isBroker()) {
      providers.addAll(List.of("strimzifile", "strimzidir"));
      set(
          provider + "strimzifile.class",
          "org.apache.kafka.common.config.provider.FileConfigProvider");
      set(provider + "strimzifile.param.allowed.paths", "/opt/kafka");
      set(
          provider + "strimzidir.class",
          "org.apache.kafka.common.config.provider.DirectoryConfigProvider");
      set(provider + "strimzidir.param.allowed.paths", "/opt/kafka");
    }
    set("config.providers", String.join(",", providers));
    set("min.insync.replicas", 1);
    spec().getConfig().entrySet().stream()
        .filter(entry -> !isForbidden(entry.getKey()))
        .forEach(entry -> set(entry.getKey(), entry.getValue()));
    metrics();
  }

  /** The operator leaves these out, with a line in its log. */
  static boolean isForbidden(String key) {
    return names(KafkaClusterSpec.FORBIDDEN_PREFIXES).stream()
            .anyMatch(key.toLowerCase(Locale.ENGLISH)::startsWith)
        && !names(KafkaClusterSpec.FORBIDDEN_PREFIX_EXCEPTIONS).contains(key);
  }

  private static List<String> names(String list) {
    return List.of(list.split("\\s*,+\\s*"));
  }

  private void metrics() {
    if (spec().getMetricsConfig() instanceof JmxPrometheusExporterMetrics) {
      append("metric.reporters", "org.apache.kafka.common.metrics.JmxReporter");
    } else if (spec().getMetricsConfig() instanceof StrimziMetricsReporter reporter) {
      String name = "io.strimzi.kafka.metrics.prometheus.Server%sMetricsReporter";
      append("metric.reporters", name.formatted("Kafka"));
      append("kafka.metrics.reporters", name.formatted("Yammer"));
      set("prometheus.metrics.reporter.listener.enable", true);
      set("prometheus.metrics.reporter.listener", "http://:9404");
      set(
          "prometheus.metrics.reporter.allowlist",
          String.join(",", reporter.getValues().getAllowList()));
    }
  }

  /** Adds a reporter behind those that the user has set. */
  private void append(String key, String reporter) {
    Optional<String> there = Optional.ofNullable(lines.get(key));
    if (there.filter(list -> list.contains(reporter)).isEmpty()) {
      set(key, there.map(list -> list + "," + reporter).orElse(reporter));
    }
  }

  private void set(String key, Object value) {
    lines.put(key, String.valueOf(value));
  }
}
