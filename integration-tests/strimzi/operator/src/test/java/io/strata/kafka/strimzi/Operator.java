package io.strata.kafka.strimzi;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.strimzi.api.kafka.model.kafka.Kafka;
import io.strimzi.api.kafka.model.kafka.listener.GenericKafkaListener;
import io.strimzi.operator.cluster.model.KafkaCluster;
import io.strimzi.operator.cluster.model.KafkaConfiguration;
import io.strimzi.operator.cluster.model.KafkaVersion;
import io.strimzi.operator.cluster.model.KafkaVersionChange;
import io.strimzi.operator.cluster.model.ListenersUtils;
import io.strimzi.operator.cluster.model.MetricsAndLogging;
import io.strimzi.operator.cluster.model.NodeRef;
import io.strimzi.operator.cluster.model.PodSetUtils;
import io.strimzi.operator.cluster.model.SharedEnvironmentProvider;
import io.strimzi.operator.cluster.model.nodepools.NodePoolUtils;
import io.strimzi.operator.common.Reconciliation;
import java.io.IOException;
import java.io.StringReader;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/** What the operator's own code makes of rendered resources. */
final class Operator {

  static final KafkaVersion.Lookup VERSIONS =
      new KafkaVersion.Lookup(Map.of("4.3.1", "strimzi/kafka:4.3.1"), Map.of(), Map.of());

  private static final SharedEnvironmentProvider NO_ENVIRONMENT =
      new SharedEnvironmentProvider() {
        @Override
        public List<String> names() {
          return List.of();
        }

        @Override
        public Collection<EnvVar> variables() {
          return List.of();
        }

        @Override
        public String value(String name) {
          return null;
        }
      };

  private final Reconciliation reconciliation;
  private final Resources resources;
  private final KafkaCluster cluster;

  private Operator(Reconciliation reconciliation, Resources resources, KafkaCluster cluster) {
    this.reconciliation = reconciliation;
    this.resources = resources;
    this.cluster = cluster;
  }

  /** The operator's model of the cluster, as its first reconciliation makes it. */
  static Operator of(Resources resources) {
    Kafka kafka = resources.kafka();
    resources.all().forEach(Operator::asOnAServer);
    Reconciliation reconciliation =
        new Reconciliation("test", "Kafka", Chart.NAMESPACE, kafka.getMetadata().getName());
    KafkaVersion version = VERSIONS.supportedVersion(kafka.getSpec().getKafka().getVersion());
    KafkaVersionChange change =
        new KafkaVersionChange(version, version, null, null, version.metadataVersion());
    KafkaCluster cluster =
        KafkaCluster.fromCrd(
            reconciliation,
            kafka,
            NodePoolUtils.createKafkaPools(
                reconciliation, kafka, resources.nodePools(), Map.of(), change, NO_ENVIRONMENT),
            VERSIONS,
            change,
            "U3RyYXRhU3RyaW16aVRlcw",
            NO_ENVIRONMENT);
    return new Operator(reconciliation, resources, cluster);
  }

  private static void asOnAServer(HasMetadata resource) {
    resource.getMetadata().setUid("uid-" + resource.getMetadata().getName());
  }

  KafkaCluster cluster() {
    return cluster;
  }

  Set<NodeRef> nodes() {
    return cluster.nodes();
  }

  /** The pods by name. */
  Map<String, Pod> pods() {
    Map<String, Pod> pods = new TreeMap<>();
    cluster
        .generatePodSets(null, List.of(), node -> Map.of())
        .forEach(
            set ->
                PodSetUtils.podSetToPods(set)
                    .forEach(pod -> pods.put(pod.getMetadata().getName(), pod)));
    return pods;
  }

  List<PersistentVolumeClaim> claims() {
    return cluster.generatePersistentVolumeClaims();
  }

  /** The text of each node's configuration, by the node's id. */
  Map<Integer, String> texts(Set<Integer> cordoned) {
    Map<Integer, Map<String, String>> hosts = new HashMap<>();
    Map<Integer, Map<String, String>> ports = new HashMap<>();
    for (NodeRef node : nodes()) {
      for (GenericKafkaListener listener : cluster.getListeners()) {
        String name = ListenersUtils.envVarIdentifier(listener);
        hosts
            .computeIfAbsent(node.nodeId(), id -> new HashMap<>())
            .put(
                name,
                "%s.%s-kafka-brokers.%s.svc"
                    .formatted(node.podName(), reconciliation.name(), reconciliation.namespace()));
        ports
            .computeIfAbsent(node.nodeId(), id -> new HashMap<>())
            .put(name, String.valueOf(listener.getPort()));
      }
    }
    ConfigMap metrics =
        resources.only(ConfigMap.class).stream()
            .filter(map -> map.getMetadata().getName().endsWith("-metrics"))
            .findFirst()
            .orElse(null);
    Map<Integer, String> texts = new TreeMap<>();
    for (ConfigMap map :
        cluster.generatePerBrokerConfigurationConfigMaps(
            new MetricsAndLogging(metrics, null), hosts, ports, cordoned)) {
      String name = map.getMetadata().getName();
      texts.put(
          Integer.valueOf(name.substring(name.lastIndexOf('-') + 1)),
          map.getData().get(KafkaCluster.BROKER_CONFIGURATION_FILENAME));
    }
    return texts;
  }

  /** The keys and values of a node's configuration, as Kafka reads them. */
  Map<String, String> configuration(int id) throws IOException {
    return read(texts(Set.of()).get(id));
  }

  static Map<String, String> read(String text) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(text));
    Map<String, String> all = new TreeMap<>();
    properties.stringPropertyNames().forEach(key -> all.put(key, properties.getProperty(key)));
    return all;
  }

  /**
   * What a node's pod is annotated with beside its advertised listeners: the keys that Kafka does
   * not define. {@code KafkaReconciler.perBrokerKafkaConfiguration} makes a hash of it, and the
   * operator restarts a pod whose hash is another one.
   */
  Set<String> hashed(int id) {
    return KafkaConfiguration.unvalidated(reconciliation, texts(Set.of()).get(id))
        .unknownConfigsWithValues(cluster.getKafkaVersion());
  }

  Reconciliation reconciliation() {
    return reconciliation;
  }
}
