package io.strata.kafka.segment;

import io.strata.kafka.segment.view.ReaderGate;
import io.strata.kafka.turns.Play;
import io.strata.kafka.turns.Turns;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** Readers inside the gate of what is published, which others replace and retire. */
public final class GatePlay implements Play {

  private static final int READERS = 2;
  private static final int READS = 2;
  private static final int WRITERS = 2;
  private static final int REPLACEMENTS = 3;

  private final ReaderGate gate = new ReaderGate();
  private final AtomicReference<AtomicBoolean> published =
      new AtomicReference<>(new AtomicBoolean());
  private final AtomicInteger retired = new AtomicInteger();
  private final AtomicInteger released = new AtomicInteger();

  /** Made by its name. */
  public GatePlay(long seed) {}

  @Override
  public List<Callable<?>> parts() {
    List<Callable<?>> parts = new ArrayList<>();
    for (int i = 0; i < READERS; i++) {
      parts.add(this::read);
    }
    for (int i = 0; i < WRITERS; i++) {
      parts.add(this::replace);
    }
    return parts;
  }

  private boolean read() {
    for (int i = 0; i < READS; i++) {
      int token = gate.enter();
      AtomicBoolean seen = Objects.requireNonNull(published.get());
      boolean gone = seen.get();
      Turns.load(seen, 0, 1);
      gone |= seen.get();
      gate.exit(token);
      if (gone) {
        throw new AssertionError("what a reader had taken inside the gate was released");
      }
    }
    return true;
  }

  private boolean replace() {
    for (int i = 0; i < REPLACEMENTS; i++) {
      AtomicBoolean old = Objects.requireNonNull(published.getAndSet(new AtomicBoolean()));
      int unusedCount = retired.incrementAndGet();
      boolean unused = gate.retire(() -> release(old));
    }
    return true;
  }

  private void release(AtomicBoolean old) {
    Turns.store(old, 0, 1);
    if (old.getAndSet(true)) {
      throw new AssertionError("released twice");
    }
    int unused = released.incrementAndGet();
  }

  @Override
  public void end() {
    if (released.get() != retired.get()) {
      throw new AssertionError(retired + " were retired, and " + released + " released");
    }
  }
}
