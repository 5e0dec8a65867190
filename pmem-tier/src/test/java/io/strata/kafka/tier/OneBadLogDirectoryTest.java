package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A log directory that cannot be read, changed or marked at a start goes offline alone. */
@SuppressWarnings("try") // a fixture is closed and opened again
final class OneBadLogDirectoryTest {

  private static final byte[] GOOD = Batches.of(100_000, 1);
  private static final byte[] OLD = Batches.of(300_000, 2);
  private static final byte[] NEW = Batches.of(100_000, 3);

  @TempDir private Path root;
  private final List<Path> skipped = new ArrayList<>();
  private final List<String> reasons = new ArrayList<>();

  private void noting(TierFixture fixture) {
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path directory, String reason) {
            skipped.add(directory);
            reasons.add(reason);
          }
        };
  }

  @Test
  void oneMetaPropertiesThatCannotBeReadIsThatDirectorysFailure() throws IOException {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      fixture.logDirectories.add(second);
      noting(fixture);
      fixture.open();
      Path good = fixture.segment("good-0", 0);
      fixture.append(good, GOOD);
      fixture.close();
      // Reading it fails, as with a bad block.
      Files.createDirectory(second.resolve("meta.properties"));
      fixture.open();
      assertThat(fixture.read(good)).isEqualTo(GOOD);
      assertThat(skipped).containsExactly(second);
    }
  }

  @Test
  void oneWithoutAnIdentityThatCanBeReadOrAwayIsThatDirectorysFailure() throws IOException {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    Files.setAttribute(second, "user:strata.directory", ByteBuffer.wrap(new byte[] {'x'}));
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      fixture.logDirectories.addAll(List.of(second, root.resolve("away")));
      noting(fixture);
      fixture.open();
      assertThat(reasons)
          .satisfiesExactly(
              first ->
                  assertThat(first)
                      .contains("the extended attribute user.strata.directory holds 'x'"),
              away -> assertThat(away).isEqualTo("it is not a directory, or cannot be reached"));
    }
  }

  /**
   * What was evicted is in the log file alone: the pool's later bytes are not served without it.
   */
  @Test
  void aLogFileWithoutItsEvictedBytesIsThatDirectorysFailure() throws Exception {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      fixture.logDirectories.add(second);
      noting(fixture);
      fixture.open();
      Path good = fixture.segment("good-0", 0);
      fixture.append(good, GOOD);
      Path bad = second.resolve("bad-0").resolve(good.getFileName());
      Files.createDirectory(bad.getParent());
      fixture.append(bad, OLD);
      assertDone(fixture.destage(bad, 1));
      assertDone(fixture.evict(bad));
      fixture.append(bad, NEW);
      fixture.close();
      try (FileChannel file = FileChannel.open(bad, StandardOpenOption.WRITE)) {
        file.truncate(1000);
      }
      fixture.open();
      assertThat(fixture.read(good)).isEqualTo(GOOD);
      assertThat(skipped).containsExactly(second);
      assertThat(reasons)
          .singleElement()
          .asString()
          .contains("since the pool has the segment from there on only");
      fixture.close();
      try (FileChannel file = FileChannel.open(bad, StandardOpenOption.WRITE)) {
        int unused = file.write(ByteBuffer.wrap(OLD));
      }
      fixture.open();
      byte[] all = Arrays.copyOf(OLD, OLD.length + NEW.length);
      System.arraycopy(NEW, 0, all, OLD.length, NEW.length);
      assertThat(fixture.read(bad)).isEqualTo(all);
    }
  }

  /** As a file system's lost+found, which only root may read. */
  @Test
  void whatIsNoPartitionAndCannotBeReadIsNoReason() throws IOException {
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      noting(fixture);
      fixture.extra = Map.of("strata.durability", "ack");
      fixture.open();
      Path good = fixture.segment("good-0", 0);
      fixture.append(good, GOOD);
      fixture.close();
      // A link that leads in a circle is one that root cannot read either.
      Path lost = fixture.logs().resolve("lost+found");
      Files.createSymbolicLink(lost, lost);

      fixture.open();
      assertThat(fixture.read(good)).isEqualTo(GOOD);
      assertThat(skipped).isEmpty();
      fixture.close();

      Files.createSymbolicLink(fixture.logs().resolve("bad-0"), lost);
      fixture.open();
      assertThat(skipped).as("a partition is one").containsExactly(fixture.logs());
    }
  }

  /** As on a full disk, where the mark was taken off by hand. */
  @Test
  void oneThatCannotBeMarkedTakesNoMoreRecordsInAPool() throws IOException {
    Path second = Files.createDirectory(root.resolve("second")).toRealPath();
    try (TierFixture fixture =
        new TierFixture(Files.createDirectory(root.resolve("live"))).pool("a.pool", 16 << 20)) {
      fixture.logDirectories.add(second);
      noting(fixture);
      fixture.open();
      Path active = fixture.segment("orders-0", 0);
      fixture.append(active, OLD);
      Path good = Files.createDirectory(second.resolve("good-0")).resolve(active.getFileName());
      fixture.append(good, GOOD);
      fixture.close();
      Files.writeString(fixture.logs().resolve("meta.properties"), "version=1\nnode.id=1\n");
      // Writing the mark fails.
      Files.createDirectories(fixture.logs().resolve("meta.properties.strata").resolve("x"));
      fixture.open();
      assertThat(skipped).containsExactly(fixture.logs());
      assertThatThrownBy(() -> fixture.append(active, NEW)).isInstanceOf(IOException.class);
      fixture.append(good, NEW);
      fixture.close();
      Files.delete(fixture.logs().resolve("meta.properties.strata").resolve("x"));
      fixture.open();
      assertThat(fixture.read(active)).isEqualTo(OLD);
    }
  }
}
