#!/usr/bin/env bash
# In the in-memory file system of memoryfilesystem a truncated file has its old bytes again when it grows.
# Versions: memoryfilesystem 2.8.1 (newLinux), OpenJDK 17, the JDK's own provider on tmpfs or ext4 (Linux 6.18)
# Guess: It follows FileChannel's contract as the JDK does: zeros where a file has grown, a position that stays.
# Seen: 100 bytes of 7 are truncated to 10, and one byte is written at 99. The JDK's file has 11 bytes that are not 0,
#   this one has 100. A truncation to 1000 bytes moves the position from 50 to 100; the JDK leaves it. A transferFrom
#   behind the end makes a gap, where the contract has it transfer nothing.
# Matters: A log that cuts a torn end off and goes on finds deleted records in a test on this file system, and zeros on a
#   disk. A test of such a repair fails for sound code, and one that counts on old bytes passes.
set -euo pipefail
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/pom.xml" <<'P'
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>com.github.marschall</groupId><artifactId>memoryfilesystem</artifactId><version>2.8.1</version>
</dependency></dependencies></project>
P
mvn -B -q -f "$tmp/pom.xml" -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >"$tmp/mvn" 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import com.github.marschall.memoryfilesystem.MemoryFileSystemBuilder;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
public class T {
  static ByteBuffer sevens(int count) {
    byte[] bytes = new byte[count];
    Arrays.fill(bytes, (byte) 7);
    return ByteBuffer.wrap(bytes);
  }
  static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
  }
  static String grown(Path file, int large, int small) throws IOException {
    try (FileChannel channel = open(file)) {
      channel.write(sevens(large));
      channel.truncate(small);
      channel.write(sevens(1), large - 1);
    }
    int count = 0;
    for (byte b : Files.readAllBytes(file)) {
      count += b == 0 ? 0 : 1;
    }
    return count + " of " + Files.size(file);
  }
  static void look(String name, Path top) throws IOException {
    System.out.println(name + ": not 0 are " + grown(top.resolve("a"), 100, 10) + ", " + grown(top.resolve("b"), 100_000, 10_000));
    try (FileChannel channel = open(top.resolve("c")); FileChannel source = open(top.resolve("a"))) {
      channel.write(sevens(100));
      channel.position(50);
      channel.truncate(1000);
      System.out.println(name + ": position " + channel.position() + " after a truncation to more");
      System.out.println(name + ": behind the end " + channel.transferFrom(source, 500, 50) + " transferred, size " + channel.size());
    }
  }
  public static void main(String[] args) throws IOException {
    look("JDK", Path.of(args[0]));
    look("memoryfilesystem", Files.createDirectory(MemoryFileSystemBuilder.newLinux().build().getPath("/top")));
  }
}
J
mkdir "$tmp/top"
out=$(cd "$tmp" && java -cp "$(<classpath)" T.java "$tmp/top")
echo "$out"
expected='JDK: not 0 are 11 of 100, 10001 of 100000
JDK: position 50 after a truncation to more
JDK: behind the end 0 transferred, size 100
memoryfilesystem: not 0 are 100 of 100, 100000 of 100000
memoryfilesystem: position 100 after a truncation to more
memoryfilesystem: behind the end 50 transferred, size 550'
if [ "$out" = "$expected" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
