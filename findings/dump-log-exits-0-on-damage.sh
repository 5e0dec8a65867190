#!/usr/bin/env bash
# Kafka's dump-log tool exits 0 for a damaged batch, a torn end and a false index, and an index check calls the last sound.
# Versions: Apache Kafka 4.4.0 (kafka-tools, the class behind kafka-dump-log.sh), OpenJDK 17.0.15
# Guess: A checksum that does not match or an index that points elsewhere ends the tool with status 1.
# Seen: Status 0 for a flipped bit ("isvalid: false" in the middle of a line, with --deep-iteration the wrong record is
#   printed as any other), for a segment cut short ("Found N invalid bytes") and for an index entry that names a wrong
#   offset ("Mismatches in"), which --index-sanity-check reports as passed. Only zeros behind the last batch end it with 1.
# Matters: A check after a restore or before an upgrade of the form "dump-log && continue" always continues. Search the
#   output for "isvalid: false", "invalid bytes" and "Mismatches" instead.
set -euo pipefail
for tool in javac java curl dd; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
get() { # group artifact version
  curl -sSfL -o "$tmp/$2.jar" "$central/$1/$2/$3/$2-$3.jar" || { echo "cannot run: $2 $3 is not to be had"; exit 3; }
}
for part in tools clients server-common storage storage-api metadata raft coordinator-common group-coordinator \
  group-coordinator-api tools-api share-coordinator transaction-coordinator; do
  get org/apache/kafka "kafka-$part" 4.4.0
done
get net/sf/jopt-simple jopt-simple 5.0.4
get org/slf4j slf4j-api 1.7.36
get org/slf4j slf4j-nop 1.7.36
get com/fasterxml/jackson/core jackson-core 2.21.7
get com/fasterxml/jackson/core jackson-databind 2.21.7
get com/fasterxml/jackson/core jackson-annotations 2.21
cat >"$tmp/T.java" <<'J'
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

public class T {
  public static void main(String[] args) throws Exception {
    SimpleRecord record = new SimpleRecord(1_700_000_000_000L, null, new byte[5000]);
    ByteBuffer segment = ByteBuffer.allocate(20_000);
    for (int offset = 0; offset < 3; offset++) {
      segment.put(MemoryRecords.withRecords(offset, Compression.NONE, record).buffer());
    }
    byte[] bytes = new byte[segment.flip().remaining()];
    segment.get(bytes);
    Files.write(Path.of(args[0], "00000000000000000000.log"), bytes);
    int batch = bytes.length / 3;
    ByteBuffer index = ByteBuffer.allocate(16).putInt(1).putInt(batch).putInt(2).putInt(2 * batch);
    Files.write(Path.of(args[0], "00000000000000000000.index"), index.array());
  }
}
J
java -cp "$tmp/*" "$tmp/T.java" "$tmp" 2>"$tmp/errors"
log=$tmp/00000000000000000000.log index=$tmp/00000000000000000000.index
cp "$log" "$tmp/good"
check() { # what, what the output has to contain, arguments
  local status=0 word=$2 name=$1
  shift 2
  java -cp "$tmp/*" org.apache.kafka.tools.DumpLogSegments --files "$@" >"$tmp/out" 2>&1 || status=$?
  echo "$name: status $status, \"$word\" $(grep -c "$word" "$tmp/out" || true) times" | tee -a "$tmp/seen"
}
check "sound segment" "isvalid: true" "$log"
printf X | dd of="$log" bs=1 seek=1000 conv=notrunc status=none
check "flipped bits" "isvalid: false" "$log"
check "flipped bits, deep" "valueSize: 5000" "$log" --deep-iteration
head -c 12000 "$tmp/good" >"$log"
check "cut short" "invalid bytes at the end" "$log"
{ cat "$tmp/good"; head -c 4096 /dev/zero; } >"$log"
check "zeros behind" "CorruptRecordException" "$log"
cp "$tmp/good" "$log"
printf '\001' | dd of="$index" bs=1 seek=2 conv=notrunc status=none
check "false index" "Mismatches in" "$index"
check "false index, sanity check" "passed sanity check" "$index" --index-sanity-check
cat >"$tmp/stated" <<'S'
sound segment: status 0, "isvalid: true" 3 times
flipped bits: status 0, "isvalid: false" 1 times
flipped bits, deep: status 0, "valueSize: 5000" 3 times
cut short: status 0, "invalid bytes at the end" 1 times
zeros behind: status 1, "CorruptRecordException" 1 times
false index: status 0, "Mismatches in" 1 times
false index, sanity check: status 0, "passed sanity check" 1 times
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
