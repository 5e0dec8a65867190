package io.strata.kafka.tier.files;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.Directories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for whom while log files are held by their names. */
final class LogFileNamesTest {

  @TempDir private Path root;

  /** Something that is done to a log file does not end: its disk hangs. */
  @Test
  void aRenameWaitsForNoOtherLogDirectory() throws Exception {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 4 << 20)) {
      HotTier tier = fixture.open();
      Path file = fixture.segment("orders-0", 0);
      fixture.append(file, new byte[100]);
      TieredSegment segment = tier.registry().in(Directories.of(file)).get(0);
      Path other = Files.createDirectory(root.toRealPath().resolve("other"));
      LogFileNames names = new LogFileNames(tier.registry());
      CountDownLatch hangs = new CountDownLatch(1);
      CountDownLatch recovers = new CountDownLatch(1);
      FutureTask<Boolean> work =
          new FutureTask<>(
              () ->
                  names.with(
                      segment,
                      held -> {
                        hangs.countDown();
                        awaitUninterruptibly(recovers);
                        return true;
                      }));
      new Thread(work).start();
      hangs.await();
      FutureTask<Boolean> elsewhere = rename(names, other);
      FutureTask<Boolean> here = rename(names, fixture.logs());
      await().atMost(Duration.ofMinutes(5)).until(elsewhere::isDone);
      assertThat(here.isDone()).isFalse();
      recovers.countDown();
      assertThat(work.get()).isTrue();
      assertThat(here.get()).isTrue();
    }
  }

  /** Of one log file in the first log directory something is made that does not end. */
  @Test
  void openingWaitsForNoOtherLogDirectory() throws Exception {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 64 << 20)) {
      Path other = Files.createDirectory(root.toRealPath().resolve("other"));
      fixture.logDirectories.add(other);
      CountDownLatch hangs = new CountDownLatch(1);
      CountDownLatch recovers = new CountDownLatch(1);
      HotTier tier = fixture.open();
      Path held = Files.write(fixture.segment("orders-0", 0), new byte[100]);
      FutureTask<Boolean> work = new FutureTask<>(() -> hold(tier, held, hangs, recovers));
      new Thread(work).start();
      hangs.await();
      Random random = new Random(1);
      Path partition = Files.createDirectory(other.resolve("orders-1"));
      FutureTask<Boolean> opens =
          new FutureTask<>(
              () -> {
                for (int i = 0; i < 1000; i++) {
                  long offset = random.nextLong() >>> 1;
                  Path file = partition.resolve(String.format("%020d.log", offset));
                  tier.open(file, TierFixture.KAFKA).orElseThrow().close();
                  Files.delete(file);
                }
                return true;
              });
      new Thread(opens).start();
      assertThat(opens.get(5, TimeUnit.MINUTES)).isTrue();
      assertThat(work.isDone()).isFalse();
      recovers.countDown();
      assertThat(work.get()).isTrue();
    }
  }

  @SuppressWarnings("try") // what is held is only to be released
  private static boolean hold(
      HotTier tier, Path file, CountDownLatch hangs, CountDownLatch recovers) throws IOException {
    try (var held = tier.names().lock(file)) {
      hangs.countDown();
      awaitUninterruptibly(recovers);
      return true;
    }
  }

  @SuppressWarnings("try") // what is held is only to be released
  private static FutureTask<Boolean> rename(LogFileNames names, Path logDirectory) {
    FutureTask<Boolean> rename =
        new FutureTask<>(
            () -> {
              try (var held =
                  names.lockDirectories(
                      logDirectory.resolve("orders-0"),
                      logDirectory.resolve("orders-0.x-delete"))) {
                return true;
              }
            });
    new Thread(rename).start();
    return rename;
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
