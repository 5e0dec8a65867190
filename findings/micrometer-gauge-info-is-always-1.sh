#!/usr/bin/env bash
# Micrometer's Prometheus registry shows a gauge named "x.info" as the constant 1 and renames or drops its neighbours.
# Versions: micrometer-registry-prometheus 1.17.2, prometheus-metrics 1.7.0, OpenJDK 17.0.15
# Guess: A gauge keeps its name with underscores for dots and its value: pool.info 5 is "pool_info 5".
# Seen: "pool_info 1" whatever the gauge's value is. Gauge pool.bytes.total is exported as pool_bytes; pool.created and
#   pool.bucket lose their last word and, once the name "pool" is taken, are not exported at all (a log line says so,
#   once). Counter pools.created is exported as pools_total.
# Matters: The last word of a meter's name decides what becomes of its value; an alert on such a gauge never fires. Look
#   at the scrape, not at the code, and avoid total, info, created and bucket as last words of a gauge.
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
cat >"$tmp/T.java" <<'J'
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

public class T {
  public static void main(String[] args) {
    PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    for (String name : new String[] {"pool.bytes.total", "pool.info", "pool.created", "pool.bucket", "pool.free"}) {
      Gauge.builder(name, () -> 5).register(registry);
    }
    Counter.builder("pools.created").register(registry).increment(5);
    registry.scrape().lines().filter(line -> !line.startsWith("#") && !line.isEmpty()).forEach(System.out::println);
  }
}
J
java --version | sed -n 1p
java -cp "$tmp/*" "$tmp/T.java" 2>"$tmp/log" | sort | tee "$tmp/seen"
printf '%s\n' 'pool_bytes 5.0' 'pool_free 5.0' 'pool_info 1' 'pools_total 5.0' >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
