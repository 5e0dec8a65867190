package io.strata.kafka.nio;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.crash.Call;
import io.strata.kafka.crash.FailingCall;
import io.strata.kafka.crash.FailingCall.Failure;
import io.strata.kafka.crash.FailingCall.Lasting;
import io.strata.kafka.crash.FailingCall.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The n-th call of each kind fails on real files, below the real provider: nothing acknowledged is
 * lost or changed, the other log directory goes on, and after a start without the fault everything
 * works. {@code FailingCallsTest} does the same in the simulation, with power cuts behind it.
 *
 * <p>{@code -Dstrata.failing.call=}, {@code n=} and {@code how=} repeat one; {@code
 * -Djava.io.tmpdir=} chooses the file system.
 */
final class FailingFilesTest {

  /** Calls that are tried of each kind in a short run. */
  private static final int FEW = 1;

  @TempDir private Path temp;
  private final List<String> wrong = new ArrayList<>();
  private int runs;

  @Test
  void someCallsFail() throws IOException {
    each(begin("mapped", "pool"), FEW);
  }

  private FailingFilesRun.Beginning begin(String type, String durability) throws IOException {
    return FailingFilesRun.Beginning.make(
        Files.createDirectory(temp.resolve("beginning")),
        Map.of("strata.pool.type", type, "strata.durability", durability));
  }

  @ParameterizedTest(name = "pool.type={0}, durability={1}")
  @CsvSource({"mapped, pool", "mapped, ack", "file, pool", "file, ack"})
  @Tag("long")
  void everyCallFails(String type, String durability) throws IOException {
    FailingFilesRun.Beginning beginning = begin(type, durability);
    String one = System.getProperty("strata.failing.call");
    if (one == null) {
      each(beginning, Long.MAX_VALUE);
      return;
    }
    String[] how = System.getProperty("strata.failing.how", "IO,ONCE").split(",", -1);
    long n = Long.getLong("strata.failing.n", 1);
    run(
        beginning,
        new Plan(Call.valueOf(one), n, Failure.valueOf(how[0]), Lasting.valueOf(how[1])));
    assertThat(wrong).isEmpty();
  }

  private void each(FailingFilesRun.Beginning beginning, long most) throws IOException {
    Map<Call, Long> counts = beginning.count(temp.resolve("count"));
    for (Map.Entry<Call, Long> kind : counts.entrySet()) {
      long step = Math.max(1, kind.getValue() / most);
      for (long n = (step + 1) / 2; n <= kind.getValue(); n += step) {
        for (Plan plan : FailingCall.turns(kind.getKey(), n, 0)) {
          run(beginning, plan);
        }
      }
    }
    System.out.printf("failing calls on real files: %s, %d runs%n", counts, runs);
    assertThat(wrong).isEmpty();
  }

  private void run(FailingFilesRun.Beginning beginning, Plan plan) throws IOException {
    runs++;
    Path directory = Files.createDirectory(temp.resolve("run-" + runs));
    try {
      beginning.run(directory, plan);
    } catch (AssertionError e) {
      wrong.add(String.valueOf(e.getMessage()));
    }
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }
}
