#!/usr/bin/env bash
# A Bucket4j bucket that begins above its capacity stays above it, however long it idles, until it is drawn down.
# Versions: Bucket4j 8.19.0 (bucket4j_jdk17-core), OpenJDK 17.0.15
# Guess: initialTokens above the capacity are refused, or cut to the capacity at once or at the first refill.
# Seen: With capacity 10 and initialTokens 100 the bucket has 100 tokens at once and 100 a day later, and a burst of 100
#   then passes in one call. forceAddTokens does the same; addTokens stops at the capacity.
# Matters: A limit on bytes that is given a start allowance ("let the first copy through") is no upper bound for any
#   later burst: after a quiet day the whole allowance goes out at once.
set -euo pipefail
for tool in javac java curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
jar=bucket4j_jdk17-core
curl -sSfL -o "$tmp/bucket.jar" "$central/com/bucket4j/$jar/8.19.0/$jar-8.19.0.jar" ||
  { echo "cannot run: $jar 8.19.0 is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.TimeMeter;
import java.time.Duration;

public class T {
  static long now = 1_000_000_000_000L;
  static final TimeMeter CLOCK =
      new TimeMeter() {
        public long currentTimeNanos() {
          return now;
        }

        public boolean isWallClockBased() {
          return false;
        }
      };

  static Bucket bucket(long initial) {
    Bandwidth tenPerSecond =
        Bandwidth.builder().capacity(10).refillGreedy(10, Duration.ofSeconds(1)).initialTokens(initial).build();
    return Bucket.builder().withCustomTimePrecision(CLOCK).addLimit(tenPerSecond).build();
  }

  public static void main(String[] args) {
    Bucket started = bucket(100);
    Bucket forced = bucket(10);
    Bucket added = bucket(10);
    forced.forceAddTokens(90);
    added.addTokens(90);
    long atOnce = started.getAvailableTokens();
    now += Duration.ofDays(1).toNanos();
    System.out.println(
        "initial " + atOnce + ", a day later " + started.getAvailableTokens() + ", burst " + started.tryConsume(100)
            + "; forced " + forced.getAvailableTokens() + "; added " + added.getAvailableTokens());
  }
}
J
java --version | sed -n 1p
seen=$(java -cp "$tmp/bucket.jar" "$tmp/T.java")
echo "$seen"
if [ "$seen" = "initial 100, a day later 100, burst true; forced 100; added 10" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
