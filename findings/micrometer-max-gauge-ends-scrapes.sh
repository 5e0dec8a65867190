#!/usr/bin/env bash
# A gauge "x.max" beside a Micrometer summary "x" registers without a word and makes every scrape throw.
# Versions: micrometer-registry-prometheus 1.17.2, prometheus-metrics 1.7.0, OpenJDK 17.0.15
# Guess: The second of the two is refused when it is registered, or dropped.
# Seen: Both register; scrape() throws DuplicateLabelsException ("Duplicate labels for metric"), and so no metric at all
#   is exported, not only these two.
# Matters: One meter in one library, perhaps registered hours after the start, blanks the whole endpoint: to Prometheus the
#   broker is down. Scrape once in a test with every meter registered, and keep ".max" for the summaries themselves.
set -euo pipefail
for tool in javac java curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
get() { # group artifact version
  curl -sSfL -o "$tmp/$2.jar" "$central/$1/$2/$3/$2-$3.jar" || { echo "cannot run: $2 $3 is not to be had"; exit 3; }
}
for part in registry-prometheus core commons observation; do get io/micrometer "micrometer-$part" 1.17.2; done
for part in core model config tracer-common exposition-formats exposition-textformats; do
  get io/prometheus "prometheus-metrics-$part" 1.7.0
done
get org/hdrhistogram HdrHistogram 2.2.2
cat >"$tmp/T.java" <<'J'
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

public class T {
  static String scrape(PrometheusMeterRegistry registry) {
    try {
      long lines = registry.scrape().lines().filter(line -> !line.startsWith("#") && !line.isEmpty()).count();
      return lines + " samples";
    } catch (RuntimeException e) {
      return e.getClass().getSimpleName();
    }
  }

  public static void main(String[] args) {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    Gauge.builder("other", () -> 1).register(registry);
    DistributionSummary.builder("move.bytes").register(registry).record(3);
    System.out.println("a gauge and a summary: " + scrape(registry));
    Gauge.builder("move.bytes.max", () -> 9).register(registry);
    System.out.println("and a gauge of the summary's name with .max: " + scrape(registry));
  }
}
J
java --version | sed -n 1p
java -cp "$tmp/*" "$tmp/T.java" 2>"$tmp/log" | tee "$tmp/seen"
cat >"$tmp/stated" <<'S'
a gauge and a summary: 4 samples
and a gauge of the summary's name with .max: DuplicateLabelsException
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
