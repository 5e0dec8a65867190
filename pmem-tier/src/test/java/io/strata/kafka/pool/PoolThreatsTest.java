package io.strata.kafka.pool;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import io.strata.kafka.memory.MemoryType;
import io.strata.kafka.memory.ProgressListener;
import io.strata.kafka.pool.words.PoolOwner;
import io.strata.kafka.pool.words.PoolSpec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What another user who may write to a pool's directory, or a careless umask, can do: nothing. */
class PoolThreatsTest {

  private static final int SIZE = 4 << 20;

  @TempDir private Path folder = Path.of("");

  private Path pool() {
    return folder.resolve("hot.pool");
  }

  private void create() throws IOException {
    Pool.create(PoolSpec.of(pool(), MemoryType.MAPPED, SIZE), ProgressListener.NONE);
  }

  private Pool open() throws IOException {
    return Pool.open(pool(), MemoryType.MAPPED, PoolOwner.ANY);
  }

  private static String permissions(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
  }

  @Test
  void aPoolIsItsOwnersAloneWhateverTheUmask() throws IOException {
    Function umask = Function.getFunction("c", "umask");
    int before = umask.invokeInt(new Object[] {0});
    try {
      create();
      open().close();
      Pool.grow(pool(), 2 * SIZE, ProgressListener.NONE);
    } finally {
      int unused = umask.invokeInt(new Object[] {before});
    }
    assertThat(permissions(pool())).isEqualTo("rw-------");
  }

  @Test
  void symbolicLinksAtTheNamesOfACreationAreNotFollowed() throws IOException {
    Path victim = Files.writeString(folder.resolve("victim"), "another's bytes");
    Files.createSymbolicLink(folder.resolve("hot.pool.creating"), victim);
    Files.createSymbolicLink(pool(), folder.resolve("nobody"));
    create();
    assertThat(victim).hasContent("another's bytes");
    assertThat(folder.resolve("nobody")).doesNotExist();
    assertThat(Files.isRegularFile(pool(), LinkOption.NOFOLLOW_LINKS)).isTrue();
    open().close();
  }

  /** A pool from elsewhere may say anything; none of it reaches a terminal or a log as it is. */
  @Test
  void aPathWithControlCharactersIsShownWithoutThem() throws IOException {
    create();
    try (Pool pool = open()) {
      Slot slot =
          pool.allocateSlot(new UUID(1, 2), "a\n[2030] ERROR b\u001b[2J\u202ec/0.log")
              .orElseThrow();
      assertThat(slot.toString()).endsWith("(a?[2030] ERROR b?[2J?c/0.log)");
    }
  }
}
