package io.strata.kafka.migration.remote.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.store.disk.Disk;
import io.strata.kafka.migration.remote.store.disk.StoreOptions.StoreStage;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker dies at any stage of copies, deletions and moves: the directories are copied as they are
 * at that moment, opened again, and looked at. More seeds with {@code -Dstrata.test.seeds=N}, one
 * with {@code -Dstrata.test.seed=n}.
 */
class StoreCrashTest {

  private static final int STEPS = 60;
  private static final int SEEDS = Integer.getInteger("strata.test.seeds", 2);
  private static final int CRASHES_OF_A_STAGE = 3;
  private static final int MOST_BYTES = 150_000;

  @TempDir private Path top = Path.of("");

  private final class Run {
    private final long seed;
    private final Random random;
    private final Path disk;
    private final Map<StoreStage, Integer> crashes = new HashMap<>();
    private final StoreWorkload workload;
    private int checked;

    Run(long seed) throws IOException {
      this.seed = seed;
      random = new Random(seed);
      disk = Files.createDirectory(top.resolve("seed" + seed));
      workload =
          new StoreWorkload(seed, disk, top.resolve("local" + seed), MOST_BYTES, this::reached);
    }

    void run() throws Exception {
      for (int step = 0; step < STEPS; step++) {
        workload.step();
      }
      assertThat(checked).as("seed %d: crashes looked at", seed).isGreaterThan(10);
    }

    private void reached(StoreStage stage) {
      int before = crashes.merge(stage, 1, Integer::sum);
      if (before > CRASHES_OF_A_STAGE && random.nextInt(8) > 0) {
        return;
      }
      checked++;
      try {
        Path copy = top.resolve("crash");
        Disk.removeTree(copy);
        copyTree(disk, copy);
        workload.look("seed " + seed + ", crash " + checked + " at " + stage, copy);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private static void copyTree(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : (Iterable<Path>) all::iterator) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
          Path unused = Files.createDirectories(target);
        } else {
          Path unused = Files.copy(path, target, StandardCopyOption.COPY_ATTRIBUTES);
        }
      }
    }
  }

  @Test
  void aCrashAtAnyStageLosesNothingAndLeavesNothing() throws Exception {
    long only = Long.getLong("strata.test.seed", -1);
    for (long seed = only < 0 ? 1 : only; seed <= (only < 0 ? SEEDS : only); seed++) {
      new Run(seed).run();
    }
  }
}
