package io.strata.kafka.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.config.GeneratedPage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The catalogue's names, and their reference page. */
class MetricCatalogueTest {

  private static final Map<String, String> INTROS = intros();
  private static final Pattern NAMED = Pattern.compile("[A-Z][A-Za-z]+,name=[A-Za-z]+");

  private static Stream<Metric.Group<?, ?>> groups() {
    return Stream.of(MetricCatalogue.BROKER, MetricCatalogue.LOCAL, MetricCatalogue.REMOTE)
        .flatMap(List<? extends Metric.Group<?, ?>>::stream);
  }

  @Test
  void namesSayTheUnit() {
    groups()
        .forEach(
            group ->
                group
                    .metrics()
                    .forEach(
                        metric -> {
                          String name = metric.name();
                          String what = group.type() + " " + name;
                          assertThat(name.endsWith("Total"))
                              .as("%s is a counter, and says so", what)
                              .isEqualTo(metric.kind() == Metric.Kind.COUNTER);
                          assertThat(name.matches(".*(Bytes|BytesTotal|BytesPerSecond)"))
                              .as("%s is in bytes, and says so", what)
                              .isEqualTo(metric.unit().startsWith("bytes"));
                          assertThat(name.endsWith("Seconds"))
                              .as("%s is in seconds, and says so", what)
                              .isEqualTo(metric.unit().startsWith("seconds"));
                          assertThat(metric.meaning()).as(what).endsWith(".");
                        }));
  }

  /** Some reporters make one name of type and name, in small letters, without "total". */
  @Test
  void noNameIsThereTwice() {
    Set<String> seen = new HashSet<>();
    groups()
        .forEach(
            group ->
                group
                    .metrics()
                    .forEach(
                        metric ->
                            assertThat(
                                    seen.add(
                                        (group.type() + "_" + metric.name() + tags(group))
                                            .toLowerCase(Locale.ROOT)
                                            .replaceAll("_?total", "")))
                                .as("%s %s", group.type(), metric.name())
                                .isTrue()));
  }

  @Test
  void tagsAreSorted() {
    groups().forEach(group -> assertThat(group.tags()).isSorted());
  }

  @Test
  void referencePageIsUpToDate() throws IOException {
    GeneratedPage.check("reference/metrics.md", page());
  }

  /** An alert on a metric that is not there never fires. */
  @Test
  void theDocsNameMetricsThatExist() throws IOException {
    Set<String> known =
        groups()
            .flatMap(
                group ->
                    group.metrics().stream()
                        .map(metric -> "%s,name=%s".formatted(group.type(), metric.name())))
            .collect(Collectors.toSet());
    Set<String> named = new TreeSet<>();
    try (Stream<Path> pages = Files.walk(GeneratedPage.docs())) {
      for (Path page : pages.filter(file -> file.toString().endsWith(".md")).toList()) {
        for (String line : Files.readAllLines(page)) {
          if (!line.contains("kafka.")) { // Kafka's own
            NAMED.matcher(line).results().map(MatchResult::group).forEach(named::add);
          }
        }
      }
    }
    assertThat(named).hasSizeGreaterThan(15).isSubsetOf(known);
  }

  private static String tags(Metric.Group<?, ?> group) {
    return group.tags().stream()
        .map(tag -> ",%s=<%s>".formatted(tag, tag))
        .collect(Collectors.joining());
  }

  private static String page() {
    StringBuilder page =
        new StringBuilder(
            """
            # Metrics

            <!-- Generated from io.strata.kafka.metrics.MetricCatalogue: see docs/contributing.md. -->

            Strata adds its metrics to the registry of Kafka's own broker metrics (`KafkaYammerMetrics`). Kafka's reporter
            shows each in JMX, once, and other reporters for that registry find them there, such as Strimzi's metrics
            reporter. `metrics.jmx.include` and `metrics.jmx.exclude` apply to them too. On a broker
            without that registry they are in JMX alone, under the same names.

            | kind | JMX attributes | meaning |
            |---|---|---|
            | gauge | `Value` | Rises and falls. 0 where there is nothing to count; NaN for a time that is not known, and for any gauge that cannot be read. |
            | counter | `Count` | Counts up since the broker's start. One that cannot be read keeps its last value. |
            | distribution | `Count`, `Mean`, `Min`, `Max`, `StdDev`, `50thPercentile`, `75thPercentile`, `95thPercentile`, `98thPercentile`, `99thPercentile`, `999thPercentile` | Durations in seconds. `Count` and `Mean` are since the broker's start; all else is of the last five to ten minutes, or since the last reading if that is longer ago, and 0 if there was no call. |

            The name of a counter ends with `Total`. A name with `Bytes` is in bytes, one that ends with `Seconds` in seconds.

            In Prometheus a metric is `strata_<type>_<name>` in lower case, a counter without `Total` and with `_total`:
            `strata_pool_usedbytes{pool="…"}`, `strata_tier_spilledbytes_total{tier="…"}`. A distribution has a `_count` and
            a value for each `quantile`. Strimzi's reporter makes these names of the registry, and the
            [JMX exporter](../operations.md#prometheus-and-grafana) of the rules in `examples/prometheus/jmx-exporter.yml`.
            `pool` is the pool's path, with `-2` at its end where two paths differ only in what is neither letter nor digit.

            The metrics of one scrape are of one moment. All segments are counted once for it, in a sample that is kept for
            200 ms, and for twenty times as long as it took to take: with a hundred thousand segments a second or two.

            Types that begin with `Remote` are there while the remote tier runs, with local tiers or without; all others but
            `Broker` while there are local tiers.
            """);
    Map<String, List<String>> rows = new LinkedHashMap<>();
    groups()
        .forEach(
            group ->
                group
                    .metrics()
                    .forEach(
                        metric ->
                            rows.computeIfAbsent(group.type(), type -> new ArrayList<>())
                                .add(row(group, metric))));
    assertThat(INTROS.keySet()).containsExactlyInAnyOrderElementsOf(rows.keySet());
    rows.forEach(
        (type, lines) -> {
          page.append("\n## %s\n\n%s\n\n".formatted(type, INTROS.get(type)));
          page.append("| MBean | kind | unit | meaning |\n|---|---|---|---|\n");
          lines.forEach(page::append);
        });
    page.append(
        """

        ## Status

        `io.strata.kafka:type=Status` is what `strata status` reads, one MBean with all of the above: `Health` and `Reasons`,
        `Metrics` (values by type and tags, such as `Tier,tier=hot`, then by name; of a distribution one value for each
        attribute, such as `DestageSeconds.99thPercentile`; what is not known is missing), `Settings` (by key), `Version`,
        `Broker`, `Pid` and `TimeMillis`. Collect the MBeans above instead: these are tables of tables.
        """);
    return page.toString();
  }

  private static String row(Metric.Group<?, ?> group, Metric<?> metric) {
    String kind = metric.kind().name().toLowerCase(Locale.ROOT);
    return "| `io.strata.kafka:type=%s,name=%s%s` | %s | %s | %s |\n"
        .formatted(group.type(), metric.name(), tags(group), kind, metric.unit(), metric.meaning());
  }

  private static Map<String, String> intros() {
    Map<String, String> intros = new LinkedHashMap<>();
    intros.put("Broker", "The broker, whatever it has of Strata.");
    intros.put("Pool", "One for each pool; `<pool>` is the path of the pool's file.");
    intros.put(
        "Tier",
        "One for each tier of `strata.tiers`. What is dirty, clean, active and a reserve: see"
            + " [migration](../migration.md).");
    intros.put("Migration", "The engine that moves segments between tiers.");
    intros.put("Segments", "What lives where.");
    intros.put("Append", "Writes to hot segments.");
    intros.put("Read", "Reads from hot segments.");
    intros.put("LogFiles", "The segments' own files in `log.dirs`.");
    intros.put(
        "RemoteOperation",
        "What Kafka requests of the remote tier; `<operation>` is `copy`, `fetch`, `index` or"
            + " `delete`, `<cause>` is `full`, `timeout`, `not-found`, `corrupt`, `unavailable`,"
            + " `cancelled` (by Kafka), `cold`, `fault` (Strata's or the JVM's: see the broker's"
            + " log) or `io`.");
    intros.put(
        "RemoteLevel",
        "One for each of `rsm.config.levels`, and `cold` where another manager has the lowest"
            + " level.");
    intros.put("Remote", "The remote tier as a whole.");
    intros.put(
        "RemoteScrub",
        "The scrubber, which reads all of the store and compares it with its checksums. One broker"
            + " of the cluster does it.");
    intros.put(
        "RemoteMigration",
        "The engine that moves segments between the levels of the store. On brokers where it does"
            + " not run all is 0.");
    return intros;
  }
}
