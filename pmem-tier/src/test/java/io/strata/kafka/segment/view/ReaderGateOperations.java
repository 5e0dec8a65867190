package io.strata.kafka.segment.view;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Validate;

/** Readers of a state that is replaced, and released behind the gate. */
public final class ReaderGateOperations {

  private final ReaderGate gate = new ReaderGate();
  private final AtomicReference<AtomicBoolean> released =
      new AtomicReference<>(new AtomicBoolean());
  private final AtomicInteger retired = new AtomicInteger();
  private final AtomicInteger ran = new AtomicInteger();

  /** What is taken inside the gate is not released before the reader has left: always false. */
  @Operation
  public boolean seesReleased() {
    int token = gate.enter();
    try {
      AtomicBoolean seen = Objects.requireNonNull(released.get());
      boolean before = seen.get();
      boolean after = seen.get();
      return before || after;
    } finally {
      gate.exit(token);
    }
  }

  /** Publishes another state and retires the one before. */
  @Operation
  public void replace() {
    AtomicBoolean old = Objects.requireNonNull(released.getAndSet(new AtomicBoolean()));
    int unused = retired.incrementAndGet();
    boolean unusedToo =
        gate.retire(
            () -> {
              old.set(true);
              int unusedCount = ran.incrementAndGet();
            });
  }

  /** No reader is inside any more: nothing waits, and nothing ran twice. */
  @Validate
  public void validate() {
    if (retired.get() != ran.get()) {
      throw new IllegalStateException(retired + " were retired, and " + ran + " released");
    }
  }

  /** The same, one at a time. */
  public static final class Specification {

    /** Never. */
    public boolean seesReleased() {
      return false;
    }

    /** Nothing to see. */
    public void replace() {}
  }
}
