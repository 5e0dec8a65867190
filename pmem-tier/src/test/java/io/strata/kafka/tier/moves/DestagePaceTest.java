package io.strata.kafka.tier.moves;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.plan.TieredSegments.MoveControl;
import io.strata.kafka.tier.spec.LogDiskPace;
import io.strata.kafka.tier.spec.MoveStage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A copy lets little wait in the queue of the log directory's disk. */
class DestagePaceTest {

  private static final int PIECE = 256 << 10;
  private static final long WINDOW = DestagePace.WRITTEN_OUT_BYTES;

  private record Range(long position, long length) {}

  private final List<Range> out = new ArrayList<>();
  private final DestagePace pace =
      new DestagePace(
          MoveControl.UNLIMITED,
          MoveStage.Hook.NONE,
          new LogDiskPace(LogDiskPace.Time.SYSTEM),
          () -> 0,
          (position, length) -> out.add(new Range(position, length)));

  @Test
  void writesOutWhatIsWrittenByWindows() {
    long from = 100;
    for (long at = from; at < from + 2 * WINDOW; at += PIECE) {
      pace.written(at, PIECE);
    }
    pace.written(from + 2 * WINDOW, 1000);
    assertThat(out).containsExactly(new Range(from, WINDOW), new Range(from + WINDOW, WINDOW));
  }
}
