#!/usr/bin/env bash
# hdr-histogram-js decodes a histogram of Java with its counts modulo 2^32 and gives other percentiles, without an error.
# Versions: HdrHistogram 2.2.2 (Java), hdr-histogram-js 3.0.1, hdrhistogram 0.10.3 (Python), OpenJDK 17.0.15, Node 20.20.2
# Guess: A blob of the V2 encoding means the same counts and percentiles in each port, or is refused.
# Seen: Of a value 1000 counted 2^32 + 1 times and a value 2000 counted 5 times JavaScript's default decoder reads 6
#   values, median 2000; Java and Python read 4294967302 with median 1000. With its option of 64 bits JavaScript agrees.
# Matters: Latencies in whole milliseconds fall on few values, and 2^32 of one value are two hours at 600,000 a second: a
#   long run's log looks sound in a browser's plot and is wrong. Decode with bitBucketSize 64.
set -euo pipefail
for tool in javac java curl node npm python3; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
curl -sSfL -o "$tmp/hdr.jar" "$central/org/hdrhistogram/HdrHistogram/2.2.2/HdrHistogram-2.2.2.jar" ||
  { echo "cannot run: HdrHistogram 2.2.2 is not to be had"; exit 3; }
(cd "$tmp" && npm install --silent --no-audit --no-fund hdr-histogram-js@3.0.1 >/dev/null 2>&1) ||
  { echo "cannot run: hdr-histogram-js 3.0.1 is not to be had"; exit 3; }
python3 -m venv "$tmp/venv" && "$tmp/venv/bin/pip" install -q hdrhistogram==0.10.3 >/dev/null 2>&1 ||
  { echo "cannot run: hdrhistogram 0.10.3 is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import org.HdrHistogram.Histogram;

public class T {
  public static void main(String[] args) {
    Histogram histogram = new Histogram(3);
    histogram.recordValueWithCount(1000, (1L << 32) + 1);
    histogram.recordValueWithCount(2000, 5);
    System.err.println("Java: " + histogram.getTotalCount() + " " + histogram.getValueAtPercentile(50));
    ByteBuffer blob = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
    int length = histogram.encodeIntoCompressedByteBuffer(blob, 6);
    System.out.println(Base64.getEncoder().encodeToString(Arrays.copyOf(blob.array(), length)));
  }
}
J
cat >"$tmp/t.js" <<'J'
const hdr = require("hdr-histogram-js");
for (const bits of [32, 64]) {
  const h = hdr.decodeFromCompressedBase64(process.argv[2], ...(bits === 32 ? [] : [bits]));
  console.log(`JavaScript ${bits}: ${h.totalCount} ${h.getValueAtPercentile(50)}`);
}
J
cat >"$tmp/t.py" <<'P'
import sys
from hdrh.histogram import HdrHistogram
h = HdrHistogram.decode(sys.argv[1])
print(f"Python: {h.get_total_count()} {h.get_value_at_percentile(50)}")
P
blob=$(java -cp "$tmp/hdr.jar" "$tmp/T.java" 2>"$tmp/java")
{ cat "$tmp/java"; (cd "$tmp" && node t.js "$blob"); "$tmp/venv/bin/python" "$tmp/t.py" "$blob"; } | tee "$tmp/seen"
printf '%s\n' "Java: 4294967302 1000" "JavaScript 32: 6 2000" "JavaScript 64: 4294967302 1000" \
  "Python: 4294967302 1000" >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
