package io.strata.kafka.tier.durable;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.HotTier;
import io.strata.kafka.tier.TierFixture;
import io.strata.kafka.tier.directory.Directories;
import io.strata.kafka.tier.files.LogFileNames;
import io.strata.kafka.tier.files.TieredSegment;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What goes on in the background goes on, whatever happens to it. */
class BackgroundWorkTest {

  /** The common pool may have one thread, and what hangs has it. */
  private static final Executor OWN_THREAD = work -> new Thread(work).start();

  @TempDir private Path root;

  @Test
  void workThatFailsOnceIsDoneAgain() throws IOException {
    try (TierFixture fixture = new TierFixture(root).pool("a.pool", 4 << 20)) {
      AtomicInteger failed = new AtomicInteger();
      fixture.events =
          new TierEvents() {
            @Override
            public void backgroundFailure(String what, Exception cause) {
              failed.incrementAndGet();
            }
          };
      fixture.open();
      AtomicInteger calls = new AtomicInteger();
      fixture
          .tier()
          .backgroundWork()
          .every(
              1,
              fixture.tier().backgroundWork().pools(),
              "fail in a test",
              () -> {
                switch (calls.incrementAndGet()) {
                  case 1 -> throw new IllegalStateException("slot has been freed");
                  case 2 -> throw new OutOfMemoryError("a test's");
                  default -> {}
                }
              });
      await().atMost(Duration.ofSeconds(30)).until(() -> calls.get() > 5);
      assertThat(failed).hasValue(2);
    }
  }

  @Test
  void workThatIsToBeTriedAgainAfterTheEndIsLeft() throws Exception {
    TierFixture fixture = new TierFixture(root).pool("a.pool", 4 << 20);
    HotTier tier = fixture.open();
    fixture.append(fixture.segment("orders-0", 0), Batches.of(1_000, 1));
    TieredSegment segment = tier.segments().iterator().next();
    fixture.close();
    AtomicBoolean done = new AtomicBoolean();
    tier.backgroundWork().retryingLater("fail in a test", segment, 2, () -> done.set(true));
    TimeUnit.SECONDS.sleep(7); // It is tried after five.
    assertThat(done).isFalse();
  }

  /** Both, at the end of a broker, wait for a while, and see to the other disks. */
  @Test
  @Tag("long")
  void aDiskThatHangsKeepsNothingElseFromItsEnd() throws Exception {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20);
    fixture.logDirectories.add(second);
    CountDownLatch hung = new CountDownLatch(1);
    CountDownLatch back = new CountDownLatch(1);
    HotTier tier = fixture.open();
    Path good = fixture.segment("orders-0", 0);
    Path held = Files.createDirectory(second.resolve("lines-0")).resolve(good.getFileName());
    fixture.append(held, Batches.of(1_000, 1));
    assertDone(fixture.destage(held, 1));
    FileChannel late = tier.open(sharesALockWith(held), TierFixture.KAFKA).orElseThrow();
    fixture.append(good, Batches.of(1_000, 3));
    fixture.awaitBackgroundWork();
    TieredSegment ofHeld = tier.registry().in(Directories.of(held)).get(0);
    CompletableFuture<Void> hanging =
        CompletableFuture.runAsync(
            () -> {
              try {
                tier.names().with(ofHeld, file -> hang(hung, back));
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            },
            OWN_THREAD);
    hung.await();
    FileTime old = FileTime.fromMillis(1_000_000);
    assertThat(late.write(ByteBuffer.wrap(Batches.of(1_000, 4)))).isPositive();
    for (boolean closing : new boolean[] {false, true}) {
      fixture.append(good, Batches.of(1_000, 5));
      Files.setLastModifiedTime(good, old);
      CompletableFuture.runAsync(() -> end(fixture, closing), OWN_THREAD).get(60, TimeUnit.SECONDS);
      assertThat(Files.getLastModifiedTime(good)).isGreaterThan(old);
    }
    back.countDown();
    hanging.join();
    late.close();
    fixture.open();
    assertThat(fixture.read(good)).startsWith(Batches.of(1_000, 3)).endsWith(Batches.of(1_000, 5));
    fixture.close();
  }

  private static boolean hang(CountDownLatch hung, CountDownLatch back) {
    hung.countDown();
    try {
      back.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return false;
  }

  private static void end(TierFixture fixture, boolean closing) {
    try {
      if (closing) {
        fixture.close();
      } else {
        fixture.tier().refreshModificationTimes();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** A log file beside another one whose name is held with that one's; see {@link LogFileNames}. */
  private static Path sharesALockWith(Path logFile) {
    return IntStream.iterate(1, offset -> offset + 1)
        .mapToObj(offset -> logFile.resolveSibling(String.format("%020d.log", offset)))
        .filter(
            other ->
                Math.floorMod(other.toString().hashCode(), 64)
                    == Math.floorMod(logFile.toString().hashCode(), 64))
        .findFirst()
        .orElseThrow();
  }
}
