#!/usr/bin/env bash
# On jimfs a write of no bytes makes a file longer, and a write that fits in part writes nothing: no test sees a short write.
# Versions: jimfs 1.3.2, OpenJDK 17.0.15, the JDK's own provider on tmpfs or ext4 (Linux 6.18.44)
# Guess: An empty buffer written behind the end changes nothing, as on Linux; of 16 KiB with 4 KiB left the file gets 4.
# Seen: After an empty buffer at 70000 an empty file is 70000 bytes long; the JDK's own provider leaves 0. On a jimfs of
#   64 KiB an empty buffer at 100000 is "out of disk space". Of 16 KiB with 4 KiB left jimfs writes none, and throws; the
#   buffer's position is 0, and a write of one byte then succeeds.
# Matters: jimfs is what one tests a log on without a disk. A loop for short writes, or a repair of a torn end after
#   ENOSPC, is never run there; and a position that is set too far shows as zeros in the file that no disk would have.
set -euo pipefail
for tool in java javac mvn; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/pom.xml" <<'P'
<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version><dependencies>
<dependency><groupId>com.google.jimfs</groupId><artifactId>jimfs</artifactId><version>1.3.2</version></dependency></dependencies></project>
P
mvn -B -q -f "$tmp/pom.xml" -Dmaven.repo.local="$tmp/m2" -Dmdep.outputFile="$tmp/classpath" \
  org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath >"$tmp/mvn" 2>&1 ||
  { echo "cannot run: Maven Central is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import com.google.common.jimfs.*;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.*;
public class T {
  static FileChannel open(Path file) throws IOException {
    return FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
  }
  static void empty(String name, Path file) throws IOException {
    try (FileChannel channel = open(file)) {
      channel.write(ByteBuffer.allocate(0), 70_000);
      System.out.println(name + ": " + channel.size() + " bytes after none");
    }
  }
  static String said(FileChannel channel, ByteBuffer bytes, long position) {
    try {
      return channel.write(bytes, position) + " bytes";
    } catch (IOException e) {
      return e.getMessage();
    }
  }
  public static void main(String[] args) throws IOException {
    empty("jimfs", Jimfs.newFileSystem(Configuration.unix()).getPath("/work/file"));
    empty("JDK", Path.of(args[0], "file"));
    FileSystem small = Jimfs.newFileSystem(Configuration.unix().toBuilder().setMaxSize(64 << 10).build());
    try (FileChannel channel = open(small.getPath("/work/file"))) {
      System.out.println("30 KiB: " + said(channel, ByteBuffer.allocate(30 << 10), 0));
      System.out.println("none, far behind: " + said(channel, ByteBuffer.allocate(0), 100_000));
      System.out.println("30 KiB more: " + said(channel, ByteBuffer.allocate(30 << 10), 30 << 10));
      ByteBuffer bytes = ByteBuffer.allocate(16 << 10);
      System.out.println("16 KiB more: " + said(channel, bytes, 60 << 10) + ", " + bytes.position() + " taken");
      System.out.println("one more: " + said(channel, ByteBuffer.allocate(1), 60 << 10));
    }
  }
}
J
java -cp "$(cat "$tmp/classpath")" "$tmp/T.java" "$tmp" | tee "$tmp/seen"
printf '%s\n' 'jimfs: 70000 bytes after none' 'JDK: 0 bytes after none' '30 KiB: 30720 bytes' 'none, far behind: out of disk space' \
  '30 KiB more: 30720 bytes' '16 KiB more: out of disk space, 0 taken' 'one more: 1 bytes' >"$tmp/stated"
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
