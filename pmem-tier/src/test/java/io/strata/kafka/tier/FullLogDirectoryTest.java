package io.strata.kafka.tier;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.migration.NoSpaceException;
import io.strata.kafka.migration.plan.TieredSegments;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.io.IOException;
import java.nio.file.FileStore;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log directory that others have filled, up to what is kept for Kafka's own files. */
final class FullLogDirectoryTest {

  private static final byte[] BATCHES = Batches.of(200_000, 1);

  private static final int SIZE = 16 << 20;

  @TempDir private Path root;
  private LoopMount disk;
  private TierFixture fixture;
  private Path partition;

  @BeforeEach
  void makeAPool() throws IOException, InterruptedException {
    disk = LoopMount.of(root, "ext4", 64);
    Path second = Files.createDirectory(disk.directory().resolve("logs")).toRealPath();
    partition = Files.createDirectory(second.resolve("orders-0"));
    fixture = new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", SIZE);
    fixture.logDirectories.add(second);
  }

  private void openAndFillTheDisk() throws IOException {
    fixture.open();
    Path filling = disk.directory().resolve("filling");
    FileStore store = Files.getFileStore(filling.getParent());
    while (store.getUsableSpace() > 300 << 10) {
      Path unused =
          Files.write(
              filling, new byte[64 << 10], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
    disk.close();
  }

  private boolean isPlaceLeft() {
    return fixture.tier().tieredSegments().usages().stream()
        .limit(fixture.pools.size())
        .anyMatch(tier -> tier.freeBytes() > 1 << 19);
  }

  private List<Path> fillThePools() throws IOException {
    List<Path> segments = new ArrayList<>();
    while (isPlaceLeft()) {
      Path segment = partition.resolve(String.format("%020d.log", segments.size()));
      fixture.append(segment, BATCHES);
      segments.add(segment);
    }
    for (Path segment : segments) {
      assertThat(segment).isEmptyFile();
      assertThat(fixture.read(segment)).isEqualTo(BATCHES);
    }
    return segments;
  }

  /** Also where most of the pool is dirty, which passes new segments on to a disk with space. */
  @Test
  void newSegmentsFillThePoolBeforeOneBeginsThere() throws IOException {
    openAndFillTheDisk();
    List<Path> segments = fillThePools();
    assertThat(segments).hasSizeGreaterThan(40);
    assertThatThrownBy(() -> fixture.destage(segments.get(0), 1))
        .isInstanceOf(NoSpaceException.class);
  }

  @Test
  void newSegmentsFillAllTiersBeforeOneBeginsThere() throws IOException {
    TierFixture unused = fixture.pool("b.pool", SIZE).inTiers("fast", "slow");
    openAndFillTheDisk();
    assertThat(fillThePools()).hasSizeGreaterThan(80);
  }

  /** The second one sees space that the first one has not written to yet. */
  @Test
  void copiesAtTheSameTimeLeaveTheReserveTogether() throws Exception {
    fixture.open();
    List<Path> segments = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Path segment = partition.resolve(String.format("%020d.log", i * 1000));
      for (int batch = 0; batch < 10; batch++) {
        fixture.append(segment, BATCHES);
      }
      segments.add(segment);
    }
    long dirty = fixture.view(segments.get(0)).dirtyBytes();
    Path filling = disk.directory().resolve("filling");
    FileStore store = Files.getFileStore(disk.directory());
    long reserve = store.getTotalSpace() / 100;
    while (store.getUsableSpace() > reserve + dirty + dirty / 2) {
      Path unused =
          Files.write(
              filling, new byte[64 << 10], StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    }
    TieredSegments tiers = fixture.tier().tieredSegments();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch goesOn = new CountDownLatch(1);
    CompletableFuture<MoveResult> first = new CompletableFuture<>();
    Thread thread =
        new Thread(
            () -> {
              try {
                first.complete(
                    tiers.destage(
                        fixture.view(segments.get(0)).id(),
                        1,
                        new MoveControl() {
                          @Override
                          public void beforeCopying(long bytes) throws InterruptedException {
                            begun.countDown();
                            goesOn.await();
                          }
                        }));
              } catch (IOException | InterruptedException e) {
                first.completeExceptionally(e);
              }
            });
    thread.start();
    begun.await();
    assertThatThrownBy(() -> fixture.destage(segments.get(1), 1))
        .isInstanceOf(NoSpaceException.class);
    goesOn.countDown();
    assertThat(first.get().outcome()).isEqualTo(MoveResult.Outcome.DONE);
    assertThat(store.getUsableSpace()).isGreaterThan(reserve);
    Files.delete(filling);
    TierFixture.assertDone(fixture.destage(segments.get(1), 1));
  }
}
