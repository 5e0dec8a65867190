package io.strata.kafka.tier;

import static io.strata.kafka.tier.TierFixture.assertDone;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.strata.kafka.api.SegmentView;
import io.strata.kafka.migration.CorruptSegmentException;
import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.migration.plan.TieredSegments.MoveResult;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Copies to the log file that take a segment in several turns. */
public final class DestagedInPiecesTest {

  private static final int LOG_DIRECTORY = 1;
  private static final int PIECE = 100_000;
  private static final byte[] BATCHES = Batches.of(700_000, 1);

  @TempDir private Path directory;

  /** Pieces of so many bytes. */
  public record Pieces(long pieceBytes) implements MoveControl {
    @Override
    public boolean cancelled() {
      return false;
    }

    @Override
    public void beforeCopying(long bytes) {}
  }

  private static MoveResult copy(TierFixture fixture, Path file, long pieceBytes) throws Exception {
    return fixture
        .tier()
        .tieredSegments()
        .destage(fixture.view(file).id(), LOG_DIRECTORY, new Pieces(pieceBytes));
  }

  @Test
  void eachPieceIsCleanWhenItIsCopiedAndEndsWithABatch() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      fixture.open();
      Path file = fixture.segment("orders-0", 0);
      fixture.append(file, BATCHES);
      long dirty = BATCHES.length;
      int pieces = 0;
      while (dirty > 0) {
        MoveResult copied = copy(fixture, file, PIECE);
        assertDone(copied);
        assertThat(copied.bytes()).isPositive().isLessThanOrEqualTo(PIECE);
        dirty -= copied.bytes();
        pieces++;
        assertThat(fixture.view(file).dirtyBytes()).isEqualTo(dirty);
        if (pieces == 3) {
          byte[] whole = fixture.read(file);
          fixture.reopen();
          assertThat(fixture.read(file)).isEqualTo(whole);
          assertThat(Files.size(file)).as("what a start leaves").isEqualTo(BATCHES.length - dirty);
          dirty = fixture.view(file).dirtyBytes();
        }
      }
      assertThat(pieces).isGreaterThan(BATCHES.length / PIECE);
      assertThat(fixture.view(file).clean()).isTrue();
      assertThat(Files.readAllBytes(file)).isEqualTo(BATCHES);
      assertThat(fixture.read(file)).isEqualTo(BATCHES);
    }
  }

  @Test
  void aTruncationBetweenTwoPiecesTakesWhatTheFirstHasWrittenOfTheNextBatch() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      fixture.open();
      Path file = fixture.segment("orders-0", 0);
      fixture.append(file, BATCHES);
      long clean = copy(fixture, file, PIECE).bytes();
      byte[] more = Batches.of(200_000, 2);
      try (FileChannel channel = fixture.tier().open(file, TierFixture.KAFKA).orElseThrow()) {
        channel.truncate(clean);
        channel.write(ByteBuffer.wrap(more), clean);
      }
      while (!fixture.view(file).clean()) {
        assertDone(copy(fixture, file, PIECE));
      }
      byte[] expected = Arrays.copyOf(BATCHES, (int) clean + more.length);
      System.arraycopy(more, 0, expected, (int) clean, more.length);
      assertThat(Files.readAllBytes(file)).isEqualTo(expected);
    }
  }

  @Test
  void aBatchThatIsLargerThanAPieceIsNotDivided() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      fixture.open();
      Path file = fixture.segment("orders-0", 0);
      fixture.append(file, BATCHES);
      assertDone(copy(fixture, file, 10));
      assertThat(fixture.view(file).clean()).isTrue();
      assertThat(Files.readAllBytes(file)).isEqualTo(BATCHES);
    }
  }

  @Test
  void whatIsNoBatchIsFoundInItsPiece() throws Exception {
    try (TierFixture fixture = new TierFixture(directory).pool("hot.pool", 16 << 20)) {
      fixture.open();
      Path file = fixture.segment("orders-0", 0);
      byte[] damaged = BATCHES.clone();
      Arrays.fill(damaged, 400_000, 450_000, (byte) 7);
      fixture.append(file, damaged);
      assertDone(copy(fixture, file, PIECE));
      assertThatThrownBy(
              () -> {
                for (int i = 0; i < damaged.length / 1000; i++) {
                  assertDone(copy(fixture, file, PIECE));
                }
              })
          .isInstanceOf(CorruptSegmentException.class);
      SegmentView view = fixture.view(file);
      assertThat(view.dirtyBytes()).isBetween(damaged.length - 400_000L, (long) damaged.length);
      assertThat(fixture.read(file)).isEqualTo(damaged);
    }
  }
}
