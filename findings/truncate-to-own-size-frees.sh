#!/usr/bin/env bash
# Truncating a file to the size that it has gives back what was preallocated behind its end, save from Java.
# Versions: Linux 6.18.44, util-linux 2.38.1, coreutils 9.1, OpenJDK 17.0.15
# Guess: To truncate a file to its own size does nothing; the blocks of fallocate with KEEP_SIZE stay, on any file system.
# Seen: ftruncate(2) to the own size frees all blocks behind the end (ext4, XFS, btrfs and tmpfs alike). Java's
#   FileChannel.truncate to the own size keeps them all, as it makes no system call for a size that is not smaller.
# Matters: A log preallocated with KEEP_SIZE loses its reservation to a harmless "truncate -s", a tool or another
#   language's client that "sets the size"; and Java code cannot give the reservation back that way.
set -euo pipefail
for tool in javac java fallocate truncate stat; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cat >"$tmp/T.java" <<'J'
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

public class T {
  public static void main(String[] args) throws Exception {
    try (FileChannel channel = FileChannel.open(Path.of(args[0]), StandardOpenOption.WRITE)) {
      channel.truncate(channel.size());
      channel.force(true);
    }
  }
}
J
held() { echo $(($(stat -c %b "$1") * 512)); }
log=$tmp/log
printf '%8192s' x >"$log"
fallocate -n -l 16MiB "$log" 2>/dev/null || { echo "cannot run: this file system has no fallocate"; exit 3; }
echo "Linux $(uname -r), $(stat -f -c %T "$tmp"), $(java --version | sed -n 1p)"
before=$(held "$log")
java "$tmp/T.java" "$log"
java_after=$(held "$log")
truncate -s "$(stat -c %s "$log")" "$log"
sync "$log"
after=$(held "$log")
echo "size $(stat -c %s "$log"); bytes held: preallocated $before, after FileChannel.truncate $java_after, after ftruncate $after"
if [ "$before" -ge 16777216 ] && [ "$java_after" = "$before" ] && [ "$after" -lt 65536 ]; then
  echo "as stated"
  exit 0
fi
echo "changed"
exit 1
