package io.strata.kafka.strimzi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.LocalObjectReference;
import io.fabric8.kubernetes.api.model.PersistentVolume;
import io.fabric8.kubernetes.api.model.PersistentVolumeClaim;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Toleration;
import io.fabric8.kubernetes.api.model.VolumeMount;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.strimzi.api.kafka.model.common.template.ContainerEnvVar;
import io.strimzi.api.kafka.model.kafka.tieredstorage.TieredStorageCustom;
import io.strimzi.api.kafka.model.nodepool.KafkaNodePool;
import io.strimzi.api.kafka.model.nodepool.ProcessRoles;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the chart renders from good values, and what it says of bad ones. */
class ChartTest {

  private static Path schemas;

  @BeforeAll
  static void makeSchemas() throws Exception {
    schemas = CrdSchemas.write();
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void passesHelmsLint(Path values) throws Exception {
    assertThat(Chart.lint(values).orFail().output()).contains("0 chart(s) failed");
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void isWhatStrimzisModelHas(Path values) throws Exception {
    Resources resources = Chart.render(values);
    assertThat(resources.kafka().getMetadata().getName()).isEqualTo(Chart.RELEASE);
    assertThat(resources.nodePools()).isNotEmpty();
    assertThat(resources.kafka().getSpec().getKafka().getConfig().keySet())
        .as("keys that the operator would leave out")
        .noneMatch(NodeProperties::isForbidden);
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void conformsToTheCrds(Path values) throws Exception {
    Path rendered = Project.work().resolve("rendered-" + values.getFileName());
    Path unused = Files.writeString(rendered, Chart.template(List.of(), values).orFail().output());
    Command.Finished checked = conform(rendered).orFail();
    assertThat(checked.output()).contains("Invalid: 0, Errors: 0").doesNotContain("Valid: 0,");
  }

  /** What the check of the CRDs is worth: it finds a field in the wrong place. */
  @Test
  void aFieldThatTheCrdDoesNotHaveIsFound() throws Exception {
    Path rendered = Project.work().resolve("rendered-wrong.yaml");
    String yaml = Chart.template(List.of(), Chart.example("laptop")).orFail().output();
    assertThat(yaml).contains("replicas: 1");
    Path unused = Files.writeString(rendered, yaml.replace("replicas: 1", "replicaz: 1"));
    assertThat(conform(rendered).exitCode()).isNotZero();
  }

  private static Command.Finished conform(Path rendered) throws Exception {
    assumeThat(Project.kubeconform()).as("the path of kubeconform").isNotEqualTo("none");
    return Command.run(
        List.of(
            Project.kubeconform(),
            "-strict",
            "-summary",
            "-skip",
            "ConfigMap,Job,PersistentVolume,PersistentVolumeClaim,StorageClass",
            "-schema-location",
            schemas.toAbsolutePath() + "/{{.ResourceKind}}.json",
            rendered.toString()));
  }

  @ParameterizedTest
  @MethodSource(Chart.VALUES_FILES)
  void eachVolumeIsMountedBelowMntAndHasItsClaims(Path values) throws Exception {
    Resources resources = Chart.render(values);
    List<String> claims =
        resources.only(PersistentVolumeClaim.class).stream()
            .map(claim -> claim.getMetadata().getName())
            .toList();
    assertThat(resources.only(PersistentVolumeClaim.class))
        .as("claims that hold records")
        .allMatch(
            claim ->
                "keep".equals(claim.getMetadata().getAnnotations().get("helm.sh/resource-policy")));
    for (KafkaNodePool pool : resources.nodePools()) {
      if (pool.getSpec().getTemplate() == null) {
        continue;
      }
      var template = pool.getSpec().getTemplate();
      List<VolumeMount> mounts = template.getKafkaContainer().getVolumeMounts();
      assertThat(mounts).allMatch(mount -> mount.getMountPath().startsWith("/mnt/"));
      List<String> named = new ArrayList<>();
      if (template.getPod().getVolumes() != null) {
        template.getPod().getVolumes().forEach(volume -> named.add(volume.getName()));
      }
      if (template.getPod().getTemplatedVolumes() != null) {
        for (var volume : template.getPod().getTemplatedVolumes()) {
          named.add(volume.getName());
          String claim = volume.getPersistentVolumeClaim().getClaimName();
          String node = Chart.RELEASE + "-" + pool.getMetadata().getName() + "-";
          assertThat(
                  NodeProperties.ids(pool)
                      .mapToObj(id -> claim.replace("{nodePodName}", node + id)))
              .as("the claim of each node")
              .allMatch(claims::contains);
        }
      }
      assertThat(mounts)
          .extracting(VolumeMount::getName)
          .containsExactlyInAnyOrderElementsOf(named);
    }
  }

  @Test
  void onlyBrokersHaveTheProviderAndThePools() throws Exception {
    Resources resources = Chart.render(Chart.example("dax"));
    for (KafkaNodePool pool : resources.nodePools()) {
      boolean broker = pool.getSpec().getRoles().contains(ProcessRoles.BROKER);
      assertThat(pool.getSpec().getJvmOptions() != null)
          .as(pool.getMetadata().getName())
          .isEqualTo(broker);
      assertThat(pool.getSpec().getTemplate() != null).isEqualTo(broker);
    }
    assertThat(resources.nodePool("broker").getSpec().getJvmOptions().getJavaSystemProperties())
        .singleElement()
        .satisfies(
            property -> {
              assertThat(property.getName())
                  .isEqualTo("java.nio.file.spi.DefaultFileSystemProvider");
              assertThat(property.getValue())
                  .isEqualTo("io.strata.kafka.nio.StrataFileSystemProvider");
            });
  }

  @Test
  void everyNodeHasTheJarOfAnImageVolume() throws Exception {
    for (KafkaNodePool pool : Chart.render(Chart.example("nvme-nfs")).nodePools()) {
      assertThat(pool.getSpec().getTemplate().getKafkaContainer().getEnv())
          .singleElement()
          .returns("CLASSPATH", ContainerEnvVar::getName)
          .returns("/mnt/strata-jar/strata-kafka.jar", ContainerEnvVar::getValue);
      assertThat(pool.getSpec().getTemplate().getPod().getVolumes())
          .anySatisfy(
              volume ->
                  assertThat(volume.getImage().getReference())
                      .isEqualTo("registry.example.com/strata-jar:0.1.0"));
    }
  }

  @Test
  void theRulesOfTheExporterAreThoseOfTheExample() throws Exception {
    Path example = Project.root().resolve("examples/prometheus/jmx-exporter.yml");
    Path copy = Project.chart().resolve("files/jmx-exporter.yaml");
    assertThat(copy).hasSameTextualContentAs(example);
    assertThat(Chart.render(Chart.example("dax")).only(ConfigMap.class))
        .singleElement()
        .satisfies(
            map ->
                assertThat(map.getData().get("jmx-exporter.yaml").strip())
                    .isEqualTo(Files.readString(example).strip()));
  }

  @Test
  void numbersKeepTheirForm() throws Exception {
    Path values = Files.createTempFile(Project.work(), "numbers-", ".yaml");
    Path unused =
        Files.writeString(
            values,
            """
            kafka:
              config:
                log.segment.bytes: 1073741824
                log.retention.ms: 31536000000
                log.cleaner.min.cleanable.ratio: 0.25
                auto.create.topics.enable: false
            strata:
              config:
                strata.migration.pin.topics: orders\\..*,payments
            """);
    assertThat(
            Chart.render(Chart.example("laptop"), values).kafka().getSpec().getKafka().getConfig())
        .containsEntry("log.segment.bytes", "1073741824")
        .containsEntry("log.retention.ms", "31536000000")
        .containsEntry("log.cleaner.min.cleanable.ratio", "0.25")
        .containsEntry("auto.create.topics.enable", "false")
        .containsEntry("strata.migration.pin.topics", "orders\\..*,payments");
    Files.delete(values);
  }

  /** To {@code helm --set} a number with a dot is a text. */
  @Test
  void aThresholdOfTheCommandLineIsTaken() throws Exception {
    Resources rendered =
        Chart.render(List.of("strata.tiers[0].threshold=0.4"), Chart.example("dax"));
    assertThat(rendered.kafka().getSpec().getKafka().getConfig())
        .containsEntry("strata.tier.hot.threshold", "0.4");
  }

  @Test
  void aReporterOfTheUsersStays() throws Exception {
    Resources rendered =
        Chart.render(
            List.of("kafka.config.metric\\.reporters=com.example.Reporter"),
            Chart.example("laptop"));
    assertThat(rendered.kafka().getSpec().getKafka().getConfig())
        .containsEntry(
            "metric.reporters",
            "com.example.Reporter,org.apache.kafka.common.metrics.JmxReporter,io.strata.kafka.StrataReporter");
  }

  @Test
  void withoutStrataNothingOfItIsLeftButTheClaims() throws Exception {
    Resources resources =
        Chart.render(List.of("strata.enabled=false", "metrics.type=none"), Chart.example("dax"));
    assertThat(resources.kafka().getSpec().getKafka().getImage()).isNull();
    assertThat(resources.kafka().getSpec().getKafka().getConfig().toString())
        .doesNotContain("strata");
    assertThat(resources.nodePools())
        .allMatch(pool -> pool.getSpec().getTemplate() == null)
        .allMatch(
            pool ->
                pool.getSpec().getJvmOptions() == null
                    || pool.getSpec().getJvmOptions().getJavaSystemProperties() == null);
  }

  @ParameterizedTest
  @ValueSource(strings = {"dax", "nvme-nfs"})
  void aDrainHasAJobForEachBroker(String example) throws Exception {
    Resources resources =
        Chart.render(List.of("strata.enabled=false", "drain.enabled=true"), Chart.example(example));
    List<Job> jobs = resources.only(Job.class);
    assertThat(jobs)
        .extracting(job -> job.getMetadata().getName())
        .containsExactly(
            "my-cluster-broker-0-drain", "my-cluster-broker-1-drain", "my-cluster-broker-2-drain");
    for (Job job : jobs) {
      var pod = job.getSpec().getTemplate().getSpec();
      assertIsAdmittedByTheRestrictedPolicy(pod);
      assertThat(pod.getContainers().get(0).getVolumeMounts())
          .extracting(VolumeMount::getName)
          .containsExactlyInAnyOrderElementsOf(
              pod.getVolumes().stream().map(v -> v.getName()).toList());
    }
    ConfigMap config = configMap(resources, "my-cluster-drain");
    assertThat(config.getData().keySet())
        .containsExactlyInAnyOrder("0.properties", "1.properties", "2.properties", "drain.sh");
  }

  /** What Kubernetes' own check of the profile "restricted" wants of a pod. */
  private static void assertIsAdmittedByTheRestrictedPolicy(PodSpec pod) {
    assertThat(pod.getSecurityContext().getRunAsNonRoot()).isTrue();
    assertThat(pod.getSecurityContext().getSeccompProfile().getType()).isEqualTo("RuntimeDefault");
    for (Container container : pod.getContainers()) {
      var context = container.getSecurityContext();
      assertThat(context.getAllowPrivilegeEscalation()).isFalse();
      assertThat(context.getCapabilities().getDrop()).containsExactly("ALL");
    }
    assertThat(pod.getVolumes())
        .allMatch(
            volume ->
                volume.getConfigMap() != null
                    || volume.getEmptyDir() != null
                    || volume.getImage() != null
                    || volume.getPersistentVolumeClaim() != null);
  }

  /** From a private registry, onto tainted nodes, in a namespace with a quota. */
  @Test
  void aJobHasWhatItsBrokersPodNeedsToStart() throws Exception {
    Command.Finished rendered =
        Chart.template(
            List.of(
                "strata.enabled=false",
                "drain.enabled=true",
                "jobs.resources.limits.memory=1Gi",
                "nodePools[1].template.pod.imagePullSecrets[0].name=registry",
                "nodePools[1].template.pod.priorityClassName=high",
                "nodePools[1].template.pod.tolerations[0].key=kafka"),
            Chart.example("dax"));
    assertThat(Resources.parse(rendered.orFail().output()).only(Job.class))
        .hasSize(3)
        .allSatisfy(
            job -> {
              PodSpec pod = job.getSpec().getTemplate().getSpec();
              assertThat(pod.getImagePullSecrets())
                  .singleElement()
                  .returns("registry", LocalObjectReference::getName);
              assertThat(pod.getPriorityClassName()).isEqualTo("high");
              assertThat(pod.getTolerations()).singleElement().returns("kafka", Toleration::getKey);
              assertThat(pod.getContainers().get(0).getResources().getLimits())
                  .containsOnlyKeys("memory");
            });
  }

  @Test
  void theTemplateOfANodePoolKeepsWhatTheChartDoesNotWrite() throws Exception {
    Command.Finished rendered =
        Chart.template(
            List.of(
                "nodePools[1].template.pod.priorityClassName=high",
                "nodePools[1].template.pod.volumes[0].name=certificates",
                "nodePools[1].template.pod.volumes[0].secret.secretName=certificates",
                "nodePools[1].template.kafkaContainer.volumeMounts[0].name=certificates",
                "nodePools[1].template.kafkaContainer.volumeMounts[0].mountPath=/mnt/certificates",
                "nodePools[1].template.kafkaContainer.env[0].name=ZONE",
                "nodePools[1].template.kafkaContainer.env[0].value=a",
                "nodePools[1].template.perPodService.metadata.labels.team=data"),
            Chart.example("nvme-nfs"));
    var template =
        Resources.parse(rendered.orFail().output()).nodePool("broker").getSpec().getTemplate();
    assertThat(template.getPod().getPriorityClassName()).isEqualTo("high");
    assertThat(template.getPod().getVolumes())
        .extracting(volume -> volume.getName())
        .containsExactly("certificates", "strata-jar", "remote-nas");
    assertThat(template.getKafkaContainer().getVolumeMounts())
        .extracting(VolumeMount::getName)
        .containsExactly("certificates", "strata-jar", "strata-nvme", "remote-nas");
    assertThat(template.getKafkaContainer().getEnv())
        .extracting(ContainerEnvVar::getName)
        .containsExactly("ZONE", "CLASSPATH");
    assertThat(template.getPerPodService().getMetadata().getLabels()).containsKey("team");
  }

  /** A key that the chart does not know is refused: it must know those of the reference. */
  @Test
  void everyKeyOfTheReferenceCanBeSet() throws Exception {
    List<String> local = new ArrayList<>();
    List<String> remote = new ArrayList<>();
    Matcher keys =
        Pattern.compile("(?m)^\\| \\[`([^`]+)`\\]")
            .matcher(Files.readString(Project.root().resolve("docs/reference/configuration.md")));
    while (keys.find()) {
      String key = keys.group(1).replace("<level>", "nas").replaceAll("<(parameter|key)>", "a.b");
      if (key.startsWith("rsm.config.")) {
        remote.add(key.substring("rsm.config.".length()));
      } else if (!key.matches("strata\\.(pools|pool\\.create|require\\.dax|tiers|tier\\..*)")) {
        local.add(key);
      }
    }
    assertThat(local).hasSizeGreaterThan(10);
    assertThat(remote).hasSizeGreaterThan(10);
    Path values = Files.createTempFile(Project.work(), "keys-", ".yaml");
    Path unused =
        Files.writeString(
            values,
            "strata:\n  config:\n%sremote:\n  config:\n%s"
                .formatted(
                    local.stream().map("    %s: x%n"::formatted).collect(Collectors.joining()),
                    remote.stream().map("    %s: x%n"::formatted).collect(Collectors.joining())));
    var kafka = Chart.render(Chart.example("nvme-nfs"), values).kafka().getSpec().getKafka();
    assertThat(kafka.getConfig()).containsKeys(local.toArray(String[]::new));
    assertThat(
            ((TieredStorageCustom) kafka.getTieredStorage()).getRemoteStorageManager().getConfig())
        .containsKeys(remote.toArray(String[]::new));
    Files.delete(values);
  }

  /** A cloud's node has a name of 45 characters, and two disks. */
  @Test
  void eachLocalVolumeHasANameOfItsOwn() throws Exception {
    String node = "ip-10-120-112-134.eu-central-1.compute.internal";
    Command.Finished rendered =
        Chart.template(
            List.of(
                "localVolumes.volumes[0].node=" + node,
                "localVolumes.volumes[0].path=/mnt/instance_store/nvme0/strata",
                "localVolumes.volumes[1].node=" + node,
                "localVolumes.volumes[1].path=/mnt/instance_store/nvme1/strata"),
            Chart.example("dax"));
    assertThat(Resources.parse(rendered.orFail().output()).only(PersistentVolume.class))
        .extracting(volume -> volume.getMetadata().getName())
        .doesNotHaveDuplicates()
        .allMatch(name -> name.matches("[a-z0-9]([-a-z0-9.]*[a-z0-9])?"), "a name of Kubernetes");
  }

  @Test
  void aLostPoolHasAJobForItsBroker() throws Exception {
    Resources resources = Chart.render(List.of("acceptLoss.nodeIds[0]=1"), Chart.example("dax"));
    assertThat(resources.only(Job.class))
        .extracting(job -> job.getMetadata().getName())
        .containsExactly("my-cluster-broker-1-accept-loss");
    ConfigMap config = configMap(resources, "my-cluster-accept-loss");
    assertThat(config.getData().keySet())
        .containsExactlyInAnyOrder("1.properties", "accept-loss.sh");
    assertThat(config.getData().get("accept-loss.sh"))
        .contains("accept-loss --config \"$1\" --yes", "/mnt/strata/pmem/hot.pool");
  }

  /** The operator would take away the node with the highest id. */
  @Test
  void theNodesThatAreNotInTheValuesAreTakenAway() throws Exception {
    Command.Finished rendered =
        Chart.template(
            List.of(
                "nodePools[1].nodeIds[0]=1",
                "nodePools[1].nodeIds[1]=5",
                "nodePools[1].nodeIds[2]=6"),
            Chart.example("dax"));
    assertThat(rendered.orFail().output())
        .contains("strimzi.io/next-node-ids: \"[1,5,6]\"")
        .contains("strimzi.io/remove-node-ids: \"[0,2-4]\"")
        .contains("strimzi.io/remove-node-ids: \"[0-99]\"");
  }

  private static ConfigMap configMap(Resources resources, String name) {
    return resources.only(ConfigMap.class).stream()
        .filter(map -> map.getMetadata().getName().equals(name))
        .findFirst()
        .orElseThrow();
  }

  /** One line: what is set, and what the message has. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        // The schema.
        "jar.delivery=ftp | delivery",
        "jar.imageVolume.file=libs/*.jar | file",
        "kafka.version=3.9.0 | version",
        "strata.poolSize=9G | poolSize",
        "strata.poolSize=9Gi | poolSize",
        "strata.tiers[0].name=logdirs | name",
        "strata.tiers[0].name=Hot | name",
        "strata.tiers[0].threshold=1.5 | threshold",
        "strata.tiers[0].type=nvram | type",
        "strata.volumes[0].type=hostPath | type",
        "strata.volumes[0].size=12 | size",
        "strata.unknown=1 | unknown",
        "nodePools[0].roles[0]=zookeeper | roles",
        "nodePools[1].nodeIds[0]=-1 | nodeIds",
        "remote.levels[0].name=cold | name",
        "remote.levels[0].capacity=10 | capacity",
        "metrics.type=statsd | type",
        "drain.enabled=maybe | drain",
        "acceptLoss.nodeIds[0]=one | nodeIds",
        // The templates.
        "kafka.config.strata\\.pools=/mnt/x | strata.* keys go into strata.config",
        "kafka.config.remote\\.log\\.storage\\.system\\.enable=true | set remote.enabled",
        "kafka.config.log\\.preallocate=true | log.preallocate is refused by Strata",
        "strata.config.strata\\.pool\\.create=1GiB | strata.pool.create is what the chart writes",
        "strata.config.strata\\.migration\\.rate\\.donw=1 | donw is no key of Strata",
        "remote.config.rsm\\.config\\.levels=a | rsm.config.levels is no key of the remote tier",
        "strata.volumes[0].size=129Gi | pmem wants 129Gi, and no volume of localVolumes has as"
            + " much",
        "strata.volumes[0].accessMode=ReadWriteOncePod | pmem has accessMode ReadWriteOncePod",
        "jar.image= | jar.image is empty",
        "jar.delivery=imageVolume | jar.imageVolume.reference is empty",
        "nodePools[1].nodeIds[0]=100 | node id 100 is there twice",
        "nodePools[1].name=brokers-with-local-nvme-in-zone-a-and-b | shorten clusterName",
        "nodePools[1].name=controller | two pools are called controller",
        "nodePools[0].roles[0]=broker | no pool has the role controller",
        "nodePools[1].roles[0]=controller | no pool has the role broker",
        "strata.poolSize=128GiB | strata.poolSize=128GiB does not fit into volume pmem of 128Gi",
        "strata.volumes[0].type=memory | volume pmem of the first tier is of type memory",
        "nodePools[1].storage.type=ephemeral | pmem is of type claim",
        "strata.volumes[0].name=other | tier hot names volume pmem, which is not in strata.volumes"
            + " (there: other)",
        "drain.enabled=true | set strata.enabled=false, too",
        "acceptLoss.nodeIds[0]=100 | node 100 is not a broker of nodePools",
        "localVolumes.storageClass= | localVolumes.storageClass is empty",
      })
  void badValuesAreRefused(String setting, String message) throws Exception {
    List<String> settings = List.of(setting.strip());
    Command.Finished refused = Chart.template(settings, Chart.example("dax"));
    assertThat(refused.exitCode()).isNotZero();
    assertThat(refused.errors()).contains(message.strip());
  }

  /** Several values at once. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "strata.tiers[1].name=hot;strata.tiers[1].volumes[0]=pmem | two tiers are called hot",
        "strata.enabled=false;acceptLoss.nodeIds[0]=1 | it needs strata.enabled=true",
        "strata.requireDax=false;strata.volumes[0].type=memory;strata.tiers[0].type=mapped | pmem"
            + " is of type memory, which is gone with the pod, and the log directories of node pool"
            + " broker stay",
        "strata.requireDax=false;strata.volumes[0].type=memory | pmem is of type memory, which is"
            + " gone with the pod, and its tier has pools of type auto",
        "strata.tiers[1].name=warm;strata.tiers[1].volumes[0]=pmem | volume pmem is in two tiers",
        "strata.volumes[1].name=spare;strata.volumes[1].type=claim;strata.volumes[1].size=200Gi |"
            + " no tier uses volume spare",
        "remote.enabled=true;nodePools[1].nodeIds={0} | has 3 replicas, and there are 1 brokers",
        "strata.enabled=false;drain.enabled=true;strata.requireDax=false;strata.volumes[0].type=memory;strata.tiers[0].type=mapped;nodePools[1].storage.volumes[0].type=ephemeral"
            + " | nothing is left to drain",
        "remote.enabled=true;remote.levels[0].claim.accessMode=ReadWriteOnce;remote.levels[0].name=nas"
            + " | level nas has accessMode ReadWriteOnce and there are 3 brokers",
      })
  void valuesThatDoNotFitTogetherAreRefused(String settings, String message) throws Exception {
    Command.Finished refused =
        Chart.template(List.of(settings.strip().split(";")), Chart.example("dax"));
    assertThat(refused.exitCode()).isNotZero();
    assertThat(refused.errors()).contains(message.strip());
  }
}
