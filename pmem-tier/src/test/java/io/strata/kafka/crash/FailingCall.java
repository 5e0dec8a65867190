package io.strata.kafka.crash;

import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Counts the calls of a machine, and has one of them fail: that of a pool, or of one log directory.
 *
 * <p>Thread safety: none.
 */
public final class FailingCall implements Calls {

  private static final Set<Call> OF_POOLS =
      EnumSet.of(Call.LOAD, Call.STORE, Call.PERSIST, Call.FORCE);
  private static final Set<Call> OF_CHANNELS =
      EnumSet.of(Call.READ, Call.WRITE, Call.TRUNCATE, Call.FILE_FORCE, Call.DIRECTORY_FORCE);
  private static final Set<Call> TAKE_SPACE =
      EnumSet.of(Call.STORE, Call.CREATE, Call.WRITE, Call.RENAME, Call.ATTRIBUTE_WRITE);

  private static final int FRAMES_SHOWN = 8;

  /** How a call fails. */
  public enum Failure {
    NO_SPACE("No space left on device"),
    IO("Input/output error"),
    /** A signal ends the wait, and the channel is closed. */
    INTERRUPT("interrupted"),
    /** Half of the bytes are written; from then on there is no space. */
    SHORT("No space left on device"),
    /** The heap has no room for what the call needs. */
    MEMORY("Java heap space");

    private final String text;

    Failure(String text) {
      this.text = text;
    }
  }

  /** For how long. */
  public enum Lasting {
    ONCE,
    /** All later calls of the kind fail, on that device. */
    FOR_GOOD,
    /** All later calls fail, on that device. */
    DEVICE
  }

  /**
   * Which call fails.
   *
   * @param n counts calls of this kind, from 1
   */
  public record Plan(Call call, long n, Failure failure, Lasting lasting) {

    public boolean ofPool() {
      return OF_POOLS.contains(call);
    }

    public boolean isOnce() {
      return lasting == Lasting.ONCE;
    }
  }

  private final Optional<Plan> plan;
  private final String logs;
  private final Map<Call, Long> counts = new EnumMap<>(Call.class);
  private boolean armed;
  private String device = "";
  private long failed;
  private String where = "";

  /**
   * Has a call fail.
   *
   * @param plan which; empty if they are only counted
   * @param logs the log directory
   */
  public FailingCall(Optional<Plan> plan, String logs) {
    this.plan = plan;
    this.logs = logs;
  }

  /** Begins to count; the fault goes when it is disarmed. */
  public void arm(boolean to) {
    armed = to;
  }

  /** Any call of any kind, failing in any way; some workloads do not come to it. */
  static Plan any(long lot) {
    Call[] kinds = Call.values();
    Call call = kinds[(int) Long.remainderUnsigned(lot, kinds.length)];
    List<Failure> ways = failures(call);
    Failure failure = ways.get((int) Long.remainderUnsigned(lot >>> 8, ways.size()));
    Lasting[] lasting = Lasting.values();
    long most = call == Call.LOAD ? 5000 : OF_POOLS.contains(call) ? 150 : 40;
    return new Plan(
        call,
        1 + Long.remainderUnsigned(lot >>> 16, most),
        failure,
        failure == Failure.INTERRUPT || failure == Failure.MEMORY
            ? Lasting.ONCE
            : lasting[(int) Long.remainderUnsigned(lot >>> 40, lasting.length)]);
  }

  /** Two ways in which a call fails, once and for good; which failures those are goes round. */
  public static List<Plan> turns(Call call, long n, long seed) {
    List<Failure> failures = failures(call);
    int turn = (int) ((n + seed) % failures.size());
    Failure lasting = failures.get((turn + 1) % failures.size());
    return List.of(
        new Plan(call, n, failures.get(turn), Lasting.ONCE),
        lasting == Failure.INTERRUPT || lasting == Failure.MEMORY
            ? new Plan(call, n, Failure.IO, Lasting.DEVICE)
            : new Plan(call, n, lasting, Lasting.FOR_GOOD));
  }

  /** How many calls of each kind were made. */
  public Map<Call, Long> counts() {
    return counts;
  }

  /** How many calls have failed. */
  public long failed() {
    return failed;
  }

  /** The call that failed first, and who made it. */
  public String where() {
    return where;
  }

  private static String callers() {
    return StackWalker.getInstance()
        .walk(
            frames ->
                frames
                    .map(frame -> frame.toStackTraceElement().toString())
                    .filter(frame -> frame.contains("io.strata.kafka") && !frame.contains(".Sim"))
                    .skip(2)
                    .limit(FRAMES_SHOWN)
                    .map(frame -> frame.substring(frame.indexOf('(')))
                    .collect(Collectors.joining(" ")));
  }

  /** The ways in which a call of a kind can fail. */
  public static List<Failure> failures(Call call) {
    List<Failure> failures = new ArrayList<>(List.of(Failure.IO));
    if (TAKE_SPACE.contains(call)) {
      failures.add(Failure.NO_SPACE);
    }
    if (OF_CHANNELS.contains(call)) {
      failures.add(Failure.INTERRUPT);
    }
    if (call == Call.WRITE) {
      failures.add(Failure.SHORT);
    }
    failures.add(Failure.MEMORY);
    return failures;
  }

  private String deviceOf(Call call, String on) {
    return OF_POOLS.contains(call) ? on : logs;
  }

  @Override
  public int before(Call call, String on, int bytes) throws IOException {
    boolean ofPool = OF_POOLS.contains(call);
    if (!armed || !(ofPool || on.startsWith(logs))) {
      return bytes;
    }
    long n = counts.merge(call, 1L, Long::sum);
    if (plan.isEmpty()) {
      return bytes;
    }
    Plan wanted = plan.get();
    if (device.isEmpty()) {
      if (call != wanted.call() || n != wanted.n()) {
        return bytes;
      }
      device = deviceOf(call, on);
    } else {
      boolean again =
          switch (wanted.lasting()) {
            case ONCE -> false;
            case FOR_GOOD -> call == wanted.call();
            case DEVICE -> true;
          };
      if (!again || !device.equals(deviceOf(call, on))) {
        return bytes;
      }
    }
    failed++;
    if (failed == 1) {
      where = call + " of " + on + " by " + callers();
    }
    return fail(wanted.failure(), bytes);
  }

  private int fail(Failure failure, int bytes) throws IOException {
    if (failure == Failure.MEMORY) {
      throw new OutOfMemoryError(failure.text);
    }
    if (failure == Failure.INTERRUPT) {
      Thread.currentThread().interrupt();
      return bytes;
    }
    if (failure == Failure.SHORT && failed == 1) {
      return Math.max(1, bytes / 2);
    }
    throw new IOException(failure.text);
  }
}
