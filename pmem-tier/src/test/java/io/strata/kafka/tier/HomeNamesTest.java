package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who waits for whom while log files are held by their names. */
final class HomeNamesTest {

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
      HomeNames names = new HomeNames(tier.registry());
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

  @SuppressWarnings("try") // what is held is only to be released
  private static FutureTask<Boolean> rename(HomeNames names, Path logDirectory) {
    FutureTask<Boolean> rename =
        new FutureTask<>(
            () -> {
              try (PathLocks.Held held =
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
