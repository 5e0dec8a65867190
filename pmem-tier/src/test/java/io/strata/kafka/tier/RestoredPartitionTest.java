package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.spec.TierEvents;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One partition's directory is put back from an older copy, attributes and all, into the current
 * log directory: its moment is right, and its tags name slots that have been freed.
 */
final class RestoredPartitionTest {

  private static final int MIB = 1 << 20;
  private static final byte[] BATCHES = Batches.of(700_000, 1);
  private static final byte[] MORE = Batches.of(100_000, 2);

  /** What the copy has of the segment. */
  enum Copied {
    /** No byte. */
    NOTHING,
    /** All batches of when it was active. */
    BEGINNING,
    /** A part of a batch at its end. */
    CUT,
    /** What has spilled, behind a hole. */
    HOLE
  }

  @TempDir private Path directory;
  private TierFixture fixture;
  private Path segment;
  private Path next;
  private Path other;
  private final List<String> skipped = new ArrayList<>();

  @BeforeEach
  void twoLogDirectories() throws IOException {
    fixture = new TierFixture(Files.createDirectory(directory.resolve("broker")));
    fixture.logDirectories.add(Files.createDirectory(fixture.root.resolve("logs2")));
    fixture.events =
        new TierEvents() {
          @Override
          public void logDirectorySkipped(Path path, String reason) {
            skipped.add(path + ": " + reason);
          }
        };
    fixture.pool("a.pool", 16 * MIB).open();
    segment = fixture.segment("orders-0", 0);
    next = fixture.segment("orders-0", 1_000_000);
    Files.createDirectory(fixture.logDirectories.get(1).resolve("audit-0"));
    other = fixture.logDirectories.get(1).resolve("audit-0/00000000000000000000.log");
    fixture.append(other, BATCHES);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private Path partition() {
    return fixture.logs().resolve("orders-0");
  }

  private Path copyTo(String name, Path original) throws Exception {
    Path copy = directory.resolve(name);
    Process process =
        new ProcessBuilder("cp", "-a", original.toString(), copy.toString()).inheritIO().start();
    assertThat(process.waitFor()).isZero();
    return copy;
  }

  /** The segment goes to the log file and leaves its slot, which others take in their turn. */
  private void evict(boolean reused) throws Exception {
    fixture.append(next, MORE);
    while (fixture.view(segment).dirtyBytes() > 0) {
      assertDone(fixture.destage(segment, 1));
    }
    SegmentTag tag = SegmentTag.read(segment).orElseThrow();
    // As Kafka's flush: a segment that has spilled keeps its slot until its end is forced.
    try (FileChannel flushed =
        fixture
            .tier()
            .open(segment, Set.of(StandardOpenOption.READ, StandardOpenOption.WRITE))
            .orElseThrow()) {
      flushed.force(true);
    }
    assertDone(fixture.evict(segment));
    fixture.awaitBackgroundWork();
    Path newer = fixture.segment("orders-1", 0);
    fixture.append(newer, MORE);
    assertThat(SegmentTag.read(newer).orElseThrow().slot()).isNotEqualTo(tag.slot());
    while (reused && SegmentTag.read(newer).orElseThrow().slot() != tag.slot()) {
      fixture.tier().delete(newer);
      fixture.awaitBackgroundWork();
      fixture.append(newer, MORE);
    }
  }

  private Path copy(Copied what) throws Exception {
    switch (what) {
      case NOTHING -> fixture.append(segment, BATCHES);
      case BEGINNING -> {
        fixture.append(segment, MORE);
        assertDone(fixture.destage(segment, 1));
        fixture.append(segment, BATCHES);
      }
      case CUT -> {
        fixture.append(segment, BATCHES);
        assertDone(fixture.destage(segment, 1));
        Path copy = copyTo("copy", partition());
        try (FileChannel file =
            FileChannel.open(copy.resolve(segment.getFileName()), StandardOpenOption.WRITE)) {
          file.truncate(300_000);
        }
        return copy;
      }
      default -> {
        Path full = fixture.segment("full-0", 0);
        fixture.append(full, Batches.of(7 * MIB, 3));
        fixture.append(segment, Batches.of(9 * MIB, 4));
        assertThat(fixture.view(segment).spilled()).isTrue();
        Path copy = copyTo("copy", partition());
        fixture.tier().delete(full);
        fixture.awaitBackgroundWork();
        return copy;
      }
    }
    return copyTo("copy", partition());
  }

  private Map<String, String> everything() throws IOException {
    Map<String, String> all = new TreeMap<>();
    try (Stream<Path> files = Files.walk(partition())) {
      for (Path file : files.toList()) {
        String bytes =
            Files.isRegularFile(file)
                ? Files.size(file) + ":" + Arrays.hashCode(Files.readAllBytes(file))
                : "";
        all.put(file.toString(), bytes + TierFixture.attributes(file));
      }
    }
    return all;
  }

  @ParameterizedTest
  @EnumSource
  void anIncompleteFileOfAFreedSlotTakesItsLogDirectoryOffline(Copied what) throws Exception {
    assertSkipped(what, false);
  }

  /** Of a beginning nothing says then that it is none. */
  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "BEGINNING")
  void soDoesOneWhoseSlotHasGoneOn(Copied what) throws Exception {
    assertSkipped(what, true);
  }

  private void assertSkipped(Copied what, boolean reused) throws Exception {
    Path copy = copy(what);
    evict(reused);
    byte[] all = fixture.read(segment);
    fixture.close();
    Path current = Files.move(partition(), directory.resolve("current"));
    Path unused = Files.move(copyTo("second", copy), partition());
    Map<String, String> before = everything();

    for (int start = 0; start < 3; start++) {
      skipped.clear();
      fixture.open();
      assertThat(skipped)
          .singleElement()
          .asString()
          .contains(
              fixture.logs().toString(),
              segment.toString(),
              "which has been freed since: an older copy",
              "setfattr -x");
      assertThat(fixture.read(other)).isEqualTo(BATCHES);
      assertThatThrownBy(() -> fixture.read(segment)).isInstanceOf(IOException.class);
      fixture.close();
      assertThat(everything()).isEqualTo(before);
    }

    Path away = Files.move(partition(), directory.resolve("away"));
    assertThat(away).exists();
    Files.move(current, partition());
    fixture.open();
    assertThat(fixture.read(segment)).isEqualTo(all);
    assertThat(fixture.read(next)).isEqualTo(MORE);
  }

  /** As a crash leaves an eviction. */
  @ParameterizedTest
  @EnumSource
  void aTagThatAnEvictionHasLeftIsRemoved(Copied before) throws Exception {
    assertRemoved(before, false);
  }

  /** The slot has gone on, and compaction has left a gap behind the records. */
  @ParameterizedTest
  @EnumSource
  void soIsOneWhoseSlotHasGoneOn(Copied before) throws Exception {
    assertRemoved(before, true);
  }

  private void assertRemoved(Copied before, boolean reused) throws Exception {
    Path unused = copy(before);
    SegmentTag tag = SegmentTag.read(segment).orElseThrow();
    evict(reused);
    byte[] all = fixture.read(segment);
    fixture.close();
    tag.write(segment);
    fixture.open();
    assertThat(skipped).isEmpty();
    assertThat(fixture.read(segment)).isEqualTo(all);
    assertThat(TierFixture.attributes(segment)).isEmpty();
  }
}
