package io.strata.kafka.strimzi;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.EnvVar;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.Volume;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.strimzi.operator.cluster.PlatformFeaturesAvailability;
import io.strimzi.operator.cluster.model.KafkaConfiguration;
import io.strimzi.operator.cluster.model.KafkaVersion;
import io.strimzi.operator.cluster.model.NodeRef;
import io.strimzi.operator.cluster.model.securityprofiles.PodSecurityProviderFactory;
import io.strimzi.operator.cluster.operator.resource.KafkaConfigurationDiff;
import io.strimzi.operator.common.Reconciliation;
import io.strimzi.platform.KubernetesVersion;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The chart's resources in the code of Strimzi's cluster operator: the configuration of each node,
 * the pods, their volumes and claims, and which changes restart a pod.
 */
class OperatorTest {

  private static final String FLAG =
      "-Djava.nio.file.spi.DefaultFileSystemProvider=io.strata.kafka.nio.StrataFileSystemProvider";

  /** {@link NodeProperties} makes the files that the tests on stock nodes start with. */
  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void theConfigurationOfEachNodeIsWhatTheTestsTakeForGranted(Path values) throws Exception {
    Resources resources = Chart.render(values);
    Operator operator = Operator.of(resources);
    int nodes = 0;
    for (NodeRef node : operator.nodes()) {
      assertThat(operator.configuration(node.nodeId()))
          .as(node.podName())
          .isEqualTo(
              NodeProperties.of(resources, resources.nodePool(node.poolName()), node.nodeId()));
      nodes++;
    }
    assertThat(nodes).isPositive();
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void theNodesHaveTheIdsOfTheValues(Path values) throws Exception {
    Resources resources = Chart.render(values);
    Set<String> expected = new HashSet<>();
    resources
        .nodePools()
        .forEach(
            pool ->
                NodeProperties.ids(pool)
                    .forEach(
                        id ->
                            expected.add(
                                "%s-%s-%d"
                                    .formatted(Chart.RELEASE, pool.getMetadata().getName(), id))));
    assertThat(Operator.of(resources).nodes())
        .extracting(NodeRef::podName)
        .containsExactlyInAnyOrderElementsOf(expected);
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void eachPodMountsTheVolumesAndFindsItsClaims(Path values) throws Exception {
    Resources resources = Chart.render(values);
    Operator operator = Operator.of(resources);
    Set<String> claims =
        Stream.concat(
                operator.claims().stream(), resources.only(PersistentVolumeClaim.class).stream())
            .map(claim -> claim.getMetadata().getName())
            .collect(Collectors.toSet());
    // The values name claims that an administrator has made.
    claims.addAll(List.of("kafka-remote", "store"));
    Map<String, Pod> pods = operator.pods();
    assertThat(pods).hasSameSizeAs(operator.nodes());
    for (NodeRef node : operator.nodes()) {
      Pod pod = pods.get(node.podName());
      Container kafka = pod.getSpec().getContainers().get(0);
      assertThat(kafka.getVolumeMounts())
          .extracting(VolumeMount::getName)
          .containsExactlyInAnyOrderElementsOf(
              pod.getSpec().getVolumes().stream().map(Volume::getName).toList());
      assertThat(
              pod.getSpec().getVolumes().stream()
                  .filter(volume -> volume.getPersistentVolumeClaim() != null)
                  .map(volume -> volume.getPersistentVolumeClaim().getClaimName()))
          .as("claims of " + node.podName())
          .allMatch(claims::contains);
      Map<String, String> configuration = operator.configuration(node.nodeId());
      boolean strata = node.broker() && configuration.containsKey("strata.tiers");
      Map<String, String> environment =
          kafka.getEnv().stream()
              .collect(Collectors.toMap(EnvVar::getName, EnvVar::getValue, (one, two) -> two));
      assertThat(environment.getOrDefault("STRIMZI_JAVA_SYSTEM_PROPERTIES", "").contains(FLAG))
          .as("the flag of " + node.podName())
          .isEqualTo(strata);
      if (strata) {
        assertThat(poolDirectories(configuration))
            .isNotEmpty()
            .isSubsetOf(kafka.getVolumeMounts().stream().map(VolumeMount::getMountPath).toList());
      }
    }
  }

  private static Set<String> poolDirectories(Map<String, String> configuration) {
    return configuration.entrySet().stream()
        .filter(line -> line.getKey().matches("strata\\.tier\\..*\\.pools"))
        .flatMap(line -> Stream.of(line.getValue().split(",")))
        .map(pool -> pool.substring(0, pool.lastIndexOf('/')))
        .collect(Collectors.toSet());
  }

  /** The files of a volume are the group's; the restricted profile leaves that as it is. */
  @Test
  void theRestrictedProfileKeepsTheGroup() throws Exception {
    Resources resources = Chart.render(Chart.example("nvme-nfs"));
    PodSecurityProviderFactory.initialize(
        "io.strimzi.plugin.security.profiles.impl.RestrictedPodSecurityProvider",
        new PlatformFeaturesAvailability(false, new KubernetesVersion(1, 35)));
    try {
      for (Pod pod : Operator.of(resources).pods().values()) {
        assertThat(pod.getSpec().getSecurityContext().getFsGroup()).isZero();
        var container = pod.getSpec().getContainers().get(0).getSecurityContext();
        assertThat(container.getRunAsNonRoot()).isTrue();
        assertThat(container.getCapabilities().getDrop()).containsExactly("ALL");
        assertThat(container.getAllowPrivilegeEscalation()).isFalse();
        assertThat(pod.getSpec().getVolumes())
            .as("volumes of kinds that Kubernetes' restricted policy admits")
            .allMatch(volume -> volume.getHostPath() == null);
      }
    } finally {
      PodSecurityProviderFactory.initialize();
    }
  }

  /**
   * Every key of Strata's and of its remote tier is in the hash of each pod, a controller's, too.
   */
  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void eachKeyOfStrataRestartsEveryPod(Path values) throws Exception {
    Operator operator = Operator.of(Chart.render(values));
    for (NodeRef node : operator.nodes()) {
      Set<String> ours =
          operator.configuration(node.nodeId()).entrySet().stream()
              .filter(line -> line.getKey().matches("(strata|rsm\\.config)\\..*"))
              .map(line -> line.getKey() + "=" + line.getValue())
              .collect(Collectors.toSet());
      assertThat(operator.hashed(node.nodeId())).as(node.podName()).containsAll(ours);
    }
  }

  /** A threshold, for example, which Strata itself changes without a restart. */
  @Test
  void aThresholdInTheValuesRestartsControllersAsWell() throws Exception {
    Path values = Chart.example("dax");
    Operator before = Operator.of(Chart.render(values));
    Operator after = Operator.of(Chart.render(List.of("strata.tiers[0].threshold=0.4"), values));
    for (NodeRef node : before.nodes()) {
      assertThat(after.hashed(node.nodeId())).isNotEqualTo(before.hashed(node.nodeId()));
    }
  }

  /** The operator knows none of them, and so changes none without a restart. */
  @Test
  void noKeyOfStrataIsOneThatTheOperatorSetsOnALiveBroker() {
    KafkaVersion version = Operator.VERSIONS.defaultVersion();
    assertThat(KafkaConfiguration.readConfigModel(version).keySet())
        .as("keys that Kafka defines")
        .hasSizeGreaterThan(200)
        .noneMatch(key -> key.startsWith("strata.") || key.startsWith("rsm.config."));
  }

  /** What was set by kafka-configs.sh is not in the desired configuration, or differs from it. */
  @Test
  void theOperatorLeavesLiveValuesAlone() throws Exception {
    Operator operator = Operator.of(Chart.render(Chart.example("nvme-nfs")));
    NodeRef broker = operator.nodes().stream().filter(NodeRef::broker).findFirst().orElseThrow();
    Map<String, String> live = new TreeMap<>(operator.configuration(broker.nodeId()));
    live.put("strata.tier.hot.threshold", "0.2");
    live.put("strata.migration.rate.down", "50MB");
    live.put("strata.migration.pin.topics", "orders");
    assertThat(changes(operator, broker, live)).isEmpty();
    // What the comparison is worth: a key of Kafka's is set back.
    live.put("min.insync.replicas", "1");
    assertThat(changes(operator, broker, live).toString()).contains("min.insync.replicas");
  }

  /**
   * Kafka changes its reporters on a live broker, and so does the operator where no other key
   * changes.
   */
  @Test
  void theReportersAloneAreChangedLive() throws Exception {
    Operator operator = Operator.of(Chart.render(Chart.example("dax")));
    NodeRef broker = operator.nodes().stream().filter(NodeRef::broker).findFirst().orElseThrow();
    Map<String, String> live = new TreeMap<>(operator.configuration(broker.nodeId()));
    assertThat(live.put("metric.reporters", "com.example.Reporter"))
        .contains("io.strata.kafka.StrataReporter");
    Object diff = difference(operator, broker, live);
    assertThat(call(diff, "getConfigDiff").toString()).contains("metric.reporters");
    assertThat(call(diff, "canBeUpdatedDynamically")).isEqualTo(true);
  }

  private static Collection<?> changes(Operator operator, NodeRef node, Map<String, String> live)
      throws ReflectiveOperationException {
    return (Collection<?>) call(difference(operator, node, live), "getConfigDiff");
  }

  private static Object call(Object diff, String name) throws ReflectiveOperationException {
    Method method = KafkaConfigurationDiff.class.getDeclaredMethod(name);
    method.setAccessible(true);
    return method.invoke(diff);
  }

  private static KafkaConfigurationDiff difference(
      Operator operator, NodeRef node, Map<String, String> live)
      throws ReflectiveOperationException {
    Constructor<KafkaConfigurationDiff> constructor =
        KafkaConfigurationDiff.class.getDeclaredConstructor(
            Reconciliation.class,
            Config.class,
            String.class,
            KafkaVersion.class,
            NodeRef.class,
            boolean.class,
            boolean.class);
    constructor.setAccessible(true);
    return constructor.newInstance(
        operator.reconciliation(),
        new Config(
            live.entrySet().stream()
                .map(line -> new ConfigEntry(line.getKey(), line.getValue()))
                .toList()),
        operator.texts(Set.of()).get(node.nodeId()),
        operator.cluster().getKafkaVersion(),
        node,
        node.controller(),
        node.broker());
  }

  /** A broker that is to go takes no new partitions: a key of Kafka's, which leaves ours alone. */
  @Test
  void aCordonedBrokerHasOneKeyMore() throws Exception {
    Operator operator = Operator.of(Chart.render(Chart.example("dax")));
    Map<String, String> cordoned = Operator.read(operator.texts(Set.of(2)).get(2));
    Map<String, String> expected = new TreeMap<>(operator.configuration(2));
    expected.put("cordoned.log.dirs", "*");
    assertThat(cordoned).isEqualTo(expected);
  }

  @Test
  void withoutStrataThePodsAreStockPods() throws Exception {
    Operator operator =
        Operator.of(
            Chart.render(
                List.of("strata.enabled=false", "metrics.type=none"), Chart.example("dax")));
    assertThat(operator.pods().toString()).doesNotContainIgnoringCase("strata");
    assertThat(operator.texts(Set.of()).toString()).doesNotContainIgnoringCase("strata");
  }
}
