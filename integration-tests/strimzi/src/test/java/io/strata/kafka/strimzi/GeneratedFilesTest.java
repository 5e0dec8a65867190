package io.strata.kafka.strimzi;

import static org.assertj.core.api.Assertions.assertThat;

import io.fabric8.kubernetes.api.model.ConfigMap;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The plain YAML of the examples, and the configurations that the tests on stock nodes start with:
 * all from the chart.
 */
class GeneratedFilesTest {

  @ParameterizedTest
  @ValueSource(strings = {"laptop", "dax", "nvme-nfs"})
  void thePlainYamlIsTheCharts(String name) throws Exception {
    String rendered = Chart.template(List.of(), Chart.example(name)).orFail().output();
    String plain =
        rendered
            .lines()
            // Labels and annotations that only Helm has a use for, and where a template is.
            .filter(line -> !line.matches(" *app\\.kubernetes\\.io/(managed-by|instance|name):.*"))
            .filter(line -> !line.matches(" *helm\\.sh/resource-policy:.*|# Source: .*"))
            .map(String::stripTrailing)
            .collect(Collectors.joining("\n", "# Made by: " + Generated.COMMAND + "\n", "\n"))
            .replaceAll("(?m)^  labels:\n(  annotations:\n)?(?=\\S)", "");
    assertThat(Resources.parse(plain).all()).hasSameSizeAs(Resources.parse(rendered).all());
    Generated.check(Project.example().resolve("plain").resolve(name + ".yaml"), plain);
  }

  /**
   * A node of each role, with either kind of metrics and none, with and without a class path of the
   * remote tier.
   */
  @ParameterizedTest
  @CsvSource({
    "laptop, dual, 0, combined-jmx",
    "dax, controller, 100, controller-jmx",
    "dax, broker, 0, broker-jmx",
    "nvme-nfs, controller, 100, controller-reporter-tiered",
    "nvme-nfs, broker, 0, broker-reporter-tiered",
    "separate-classpath, controller, 100, controller-plain-classpath",
    "separate-classpath, broker, 0, broker-plain-classpath",
    "combined-classpath, dual, 0, combined-plain-classpath",
    "combined-reporter, dual, 0, combined-reporter-tiered",
  })
  void theConfigurationOfANodeIsAsStrimziWritesIt(String values, String pool, int id, String golden)
      throws Exception {
    Path example = Chart.example(values);
    Resources resources =
        Chart.render(example.toFile().exists() ? example : Chart.testCase(values));
    String text =
        NodeProperties.of(resources, resources.nodePool(pool), id).entrySet().stream()
            .map(line -> line.getKey() + "=" + escaped(line))
            .collect(
                Collectors.joining(
                    "\n",
                    "# Node %d of pool %s, values %s. Made by: %s\n"
                        .formatted(id, pool, values, Generated.COMMAND),
                    "\n"));
    Generated.check(golden(golden), text);
  }

  /** What the Job of a broker gives to 'strata drain'. */
  @Test
  void theConfigurationOfADrain() throws Exception {
    List<String> settings = List.of("strata.enabled=false", "drain.enabled=true");
    Map<String, String> files =
        Chart.render(settings, Chart.example("dax")).only(ConfigMap.class).stream()
            .filter(map -> map.getMetadata().getName().endsWith("-drain"))
            .findFirst()
            .orElseThrow()
            .getData();
    Generated.check(
        golden("drain"), "# Made by: " + Generated.COMMAND + "\n" + files.get("0.properties"));
  }

  private static Path golden(String name) {
    return Project.root()
        .resolve("integration-tests/src/test/resources/strimzi")
        .resolve(name + ".properties");
  }

  private static String escaped(Map.Entry<String, String> line) {
    return line.getValue().replace("\\", "\\\\");
  }
}
