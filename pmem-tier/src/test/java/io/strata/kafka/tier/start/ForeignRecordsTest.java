package io.strata.kafka.tier.start;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import io.strata.kafka.segment.view.SegmentTag;
import io.strata.kafka.tier.Batches;
import io.strata.kafka.tier.TierFixture;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A broker has run without Strata, since the marker was removed, and has written to the log file of
 * a segment in a pool.
 */
class ForeignRecordsTest {

  private static final int LOG_FILE = 1;
  private static final byte[] POOLS = Batches.of(300_000, 1);
  private static final byte[] OTHERS = Batches.of(100_000, 2);

  @TempDir private Path temp;
  private TierFixture fixture;
  private Path file;

  @BeforeEach
  void open() throws IOException {
    fixture = new TierFixture(temp).pool("hot.pool", 16 << 20);
    Files.writeString(meta(), "version=1\n");
    fixture.open();
    file = fixture.segment("orders-0", 0);
    fixture.append(file, POOLS);
  }

  @AfterEach
  void close() throws IOException {
    fixture.close();
  }

  private Path meta() {
    return fixture.logs().resolve("meta.properties");
  }

  /** Ends the broker and takes the marker away. */
  private void endWithoutMarker() throws IOException {
    fixture.close();
    Files.writeString(meta(), "version=1\n");
  }

  private void assertRefusedAndNothingChanged() throws IOException {
    byte[] before = Files.readAllBytes(file);
    byte[] pool = Files.readAllBytes(fixture.pools.get(0));
    assertThatThrownBy(fixture::open)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            file.toString(),
            "partition orders-0",
            before.length + " bytes",
            "the file has records that are not the segment's in the pool",
            "ran here without Strata",
            "truncate -s ",
            "setfattr -x user.strata.segment");
    assertThat(Files.readAllBytes(file)).isEqualTo(before);
    assertThat(SegmentTag.read(file)).isPresent();
    assertThat(fixture.pools.get(0)).hasBinaryContent(pool);
  }

  /** Does what the refusal says, and opens the tier. */
  private void keepThePools() throws IOException {
    String message = String.valueOf(catchThrowable(fixture::open).getMessage());
    List<MatchResult> commands =
        Pattern.compile("truncate -s (\\d+) (\\S+[.]log)").matcher(message).results().toList();
    assertThat(commands).isNotEmpty();
    for (MatchResult command : commands) {
      try (var changed = new RandomAccessFile(command.group(2), "rw")) {
        changed.setLength(Long.parseLong(command.group(1)));
      }
    }
    fixture.open();
  }

  private void assertAccepted() throws IOException {
    fixture.open();
    assertThat(fixture.read(file)).isEqualTo(POOLS);
  }

  @Test
  void recordsInADirtySegmentsFile() throws IOException {
    endWithoutMarker();
    Files.write(file, OTHERS);
    assertRefusedAndNothingChanged();
  }

  @Test
  void recordsInTheFileOfASegmentThatHadNone() throws IOException {
    file = fixture.segment("orders-0", 7000);
    fixture.append(file, new byte[0]);
    endWithoutMarker();
    Files.write(file, OTHERS);
    assertRefusedAndNothingChanged();
  }

  /** A follower: it fetches the same batches again, and then those that came later. */
  @Test
  void theSameRecordsAndMore() throws IOException {
    endWithoutMarker();
    Files.write(file, POOLS);
    Files.write(file, OTHERS, StandardOpenOption.APPEND);
    assertRefusedAndNothingChanged();
  }

  @Test
  void theSameRecordsWithAnotherInTheirMiddle() throws IOException {
    endWithoutMarker();
    byte[] changed = POOLS.clone();
    changed[200_000] ^= 1;
    Files.write(file, changed);
    assertRefusedAndNothingChanged();
  }

  @Test
  void recordsBehindACleanSegment() throws Exception {
    assertDone(destaged());
    endWithoutMarker();
    Files.write(file, OTHERS, StandardOpenOption.APPEND);
    assertRefusedAndNothingChanged();
    keepThePools();
    assertThat(fixture.read(file)).isEqualTo(POOLS);
  }

  @Test
  void anotherEndOfACleanSegment() throws Exception {
    assertDone(destaged());
    endWithoutMarker();
    byte[] changed = Arrays.copyOf(POOLS, 50_000 + OTHERS.length);
    System.arraycopy(OTHERS, 0, changed, 50_000, OTHERS.length);
    Files.write(file, changed);
    assertRefusedAndNothingChanged();
    keepThePools();
    assertThat(fixture.read(file)).isEqualTo(POOLS);
    // The file was cut within a batch, and a copy goes on with a whole one.
    assertDone(fixture.destage(file, LOG_FILE));
    assertThat(file).hasBinaryContent(POOLS);
  }

  private MoveResult destaged() throws Exception {
    fixture.append(fixture.segment("orders-0", 1000), OTHERS);
    return fixture.destage(file, LOG_FILE);
  }

  /** Its recovery meets the hole where the pool has the bytes, and truncates the file there. */
  @Test
  void aSpilledSegmentWhoseTailIsGone() throws IOException {
    fixture.append(fixture.segment("orders-1", 0), new byte[14 << 20]);
    fixture.append(file, Batches.of(1 << 20, 3));
    assertThat(Files.size(file)).as("it has spilled").isGreaterThan(POOLS.length);
    byte[] all = fixture.read(file);
    endWithoutMarker();
    try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
      channel.truncate(0);
    }
    assertThatThrownBy(fixture::open)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            file.toString(), "none of the spilled bytes", "partition orders-0");
    keepThePools();
    byte[] kept = fixture.read(file);
    assertThat(kept.length).isBetween(POOLS.length, all.length - 1);
    assertThat(kept).isEqualTo(Arrays.copyOf(all, kept.length));
  }

  /** The log file alone has its first bytes. */
  @Test
  void thePoolsRecordsOfAPartlyEvictedSegmentCanBeKept() throws Exception {
    assertDone(fixture.destage(file, LOG_FILE));
    assertDone(fixture.evict(file));
    fixture.append(file, OTHERS);
    byte[] all = fixture.read(file);
    endWithoutMarker();
    Files.write(file, Batches.of(5_000, 4), StandardOpenOption.APPEND);
    assertRefusedAndNothingChanged();
    keepThePools();
    assertThat(fixture.read(file)).isEqualTo(all);
  }

  /** It rolls at its first append, and begins its own segment where the log file's batches end. */
  @Test
  void aSegmentThatBeginsWithinThePoolsRecords() throws IOException {
    endWithoutMarker();
    Path newer = Files.write(file.resolveSibling("00000000000000000003.log"), OTHERS);
    assertThatThrownBy(fixture::open)
        .isInstanceOf(IOException.class)
        .hasMessageContainingAll(
            newer.toString(),
            "the file begins within the records that the pool has",
            "move this file");
    Files.delete(newer);
    assertAccepted();
  }

  @Test
  void aSegmentBehindThePoolsRecordsIsAccepted() throws IOException {
    endWithoutMarker();
    Path unused = Files.write(file.resolveSibling("00000000000000005000.log"), OTHERS);
    assertAccepted();
  }

  /** As a copy leaves it that a crash ended before the slot said so. */
  @Test
  void theSegmentsOwnBytesAreAccepted() throws IOException {
    endWithoutMarker();
    Files.write(file, POOLS);
    assertAccepted();
  }

  @Test
  void zerosAndPartsOfACopyAreAccepted() throws IOException {
    endWithoutMarker();
    byte[] copied = Arrays.copyOf(POOLS, 200_000);
    Arrays.fill(copied, 4096, 16384, (byte) 0);
    Files.write(file, copied);
    assertAccepted();
  }

  /** With the marker there no such broker has run: it is what a crash has left. */
  @Test
  void nothingIsDoubtedWhereTheMarkerIs() throws IOException {
    fixture.close();
    Files.write(file, OTHERS);
    assertAccepted();
  }

  @Test
  void thePoolsRecordsCanBeKept() throws IOException {
    endWithoutMarker();
    Files.write(file, OTHERS);
    assertRefusedAndNothingChanged();
    keepThePools();
    assertThat(fixture.read(file)).isEqualTo(POOLS);
  }

  @Test
  void theFilesRecordsCanBeKept() throws IOException {
    endWithoutMarker();
    Files.write(file, OTHERS);
    assertRefusedAndNothingChanged();
    SegmentTag.remove(file);
    fixture.open();
    assertThat(Files.readAllBytes(file)).isEqualTo(OTHERS);
    assertThat(fixture.read(file)).isEqualTo(OTHERS);
    assertThatCode(fixture::reopen).doesNotThrowAnyException();
    assertThat(fixture.read(file)).isEqualTo(OTHERS);
  }
}
