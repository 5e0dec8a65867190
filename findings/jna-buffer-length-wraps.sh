#!/usr/bin/env bash
# JNA's Pointer.getByteBuffer takes its length modulo 2^32: 5 GiB are a buffer of 1 GiB, while 3 GiB are refused.
# Versions: JNA 5.19.1, OpenJDK 17.0.15
# Guess: A length beyond a ByteBuffer's 2^31 - 1 bytes is an IllegalArgumentException.
# Seen: For memory of 3 GiB it is one ("capacity < 0"). For memory of 5 GiB a buffer with capacity 1073741824 comes back,
#   without an error; for one of 4 GiB a buffer of 0 bytes.
# Matters: Code that maps a device or a pool by JNA and hands out one buffer for all of it works up to 2 GiB, fails at 3,
#   and at 5 GiB quietly serves the first of them, so a test with a size that throws proves nothing about larger ones.
set -euo pipefail
for tool in javac java curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
curl -sSfL -o "$tmp/jna.jar" "$central/net/java/dev/jna/jna/5.19.1/jna-5.19.1.jar" ||
  { echo "cannot run: jna 5.19.1 is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import com.sun.jna.Memory;
import com.sun.jna.Native;

public class T {
  public static void main(String[] args) {
    System.err.println("JNA " + Native.VERSION + ", Java " + Runtime.version());
    StringBuilder seen = new StringBuilder();
    for (long gib : new long[] {1, 3, 4, 5}) {
      // Memory that is never touched costs address space only.
      try (Memory memory = new Memory(gib << 30)) {
        int capacity = memory.getByteBuffer(0, memory.size()).capacity();
        seen.append(gib + "=" + capacity + " ");
      } catch (IllegalArgumentException e) {
        seen.append(gib + "=refused ");
      }
    }
    System.out.println(seen.toString().strip());
  }
}
J
seen=$(java -cp "$tmp/jna.jar" "$tmp/T.java")
echo "GiB asked for = capacity: $seen"
if [ "$seen" = "1=1073741824 3=refused 4=0 5=1073741824" ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
