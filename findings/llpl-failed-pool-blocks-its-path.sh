#!/usr/bin/env bash
# A pool of llpl that did not fit leaves a file of its full length, which createPool and openPool then both refuse.
# Versions: llpl 1.2.0-release, libpmem 1.12.1, OpenJDK 17.0.15, Linux 6.18.44 (tmpfs)
# Guess: createPool for more space than there is throws, and removes what it made; one can try again with a smaller size.
# Seen: It throws (posix_fallocate: No space left on device) and leaves the file, with the wanted length and without
#   blocks. MemoryPool.exists says true, createPool with a size that fits says "path already exists", openPool fails for
#   want of space. On ext4 the file keeps all of the disk's free blocks as well (ext4-failed-fallocate-keeps.sh).
# Matters: A broker that creates its pool when there is none ("exists, so open") does not come up again after one start
#   with too large a size, whatever size is configured next; the operator has to delete a file that looks like a pool.
set -euo pipefail
for tool in javac java curl df; do
  command -v "$tool" >/dev/null || { echo "cannot run: no $tool"; exit 3; }
done
[ "$(javac -version 2>&1 | tr -dc "0-9.\n" | cut -d. -f1)" -ge 17 ] || { echo "cannot run: needs JDK 17 or later"; exit 3; }
ldconfig -p 2>/dev/null | grep libpmem.so.1 >/dev/null || { echo "cannot run: no libpmem (Debian: libpmem1)"; exit 3; }
ldconfig -p | grep libpmemobj.so.1 >/dev/null || { echo "cannot run: no libpmemobj (Debian: libpmemobj1)"; exit 3; }
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] || { echo "cannot run: /dev/shm is no tmpfs"; exit 3; }
tmp=$(mktemp -d)
pools=$(mktemp -d -p /dev/shm)
trap 'rm -rf "$tmp" "$pools"' EXIT
central=${MAVEN_CENTRAL:-https://repo1.maven.org/maven2}
curl -sSfL -o "$tmp/llpl.jar" "$central/com/intel/pmem/llpl/1.2.0-release/llpl-1.2.0-release.jar" ||
  { echo "cannot run: llpl 1.2.0-release is not to be had"; exit 3; }
cat >"$tmp/T.java" <<'J'
import com.intel.pmem.llpl.MemoryPool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;

public class T {
  static String outcome(Callable<MemoryPool> call) {
    try {
      return "pool of " + call.call().size();
    } catch (Exception e) {
      return "refused: " + e.getMessage().replaceAll(":?/.*", "");
    }
  }

  public static void main(String[] args) throws Exception {
    String path = args[0] + "/pool";
    long tooLarge = 1L << 44;
    System.out.println("create too large: " + outcome(() -> MemoryPool.createPool(path, tooLarge)));
    System.out.println("exists: " + MemoryPool.exists(path) + ", full length: " + (Files.size(Path.of(path)) == tooLarge));
    System.out.println("create smaller: " + outcome(() -> MemoryPool.createPool(path, 1 << 20)));
    System.out.println("open: " + outcome(() -> MemoryPool.openPool(path)));
  }
}
J
java --version | sed -n 1p
java -cp "$tmp/llpl.jar" "$tmp/T.java" "$pools" | tee "$tmp/seen"
cat >"$tmp/stated" <<'S'
create too large: refused: Unable to create pool: posix_fallocate: No space left on device
exists: true, full length: true
create smaller: refused: Unable to create pool, path already exists
open: refused: Unable to open pool: posix_fallocate: No space left on device
S
cmp -s "$tmp/seen" "$tmp/stated" || { echo "changed"; exit 1; }
echo "as stated"
exit 0
