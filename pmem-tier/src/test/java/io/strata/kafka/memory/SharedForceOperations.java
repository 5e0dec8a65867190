package io.strata.kafka.memory;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.datastructures.Operation;

/** Appends of several partitions to a medium that is durable up to where a force has begun. */
public final class SharedForceOperations {

  private final AtomicInteger stored = new AtomicInteger();
  private final AtomicInteger durable = new AtomicInteger();
  private final SharedForce<SharedForceOperations> shared =
      new SharedForce<>(SharedForceOperations::forceAll);

  private void forceAll() {
    int all = stored.get();
    durable.set(all);
  }

  /** Whether an append is durable when it returns: always. */
  @Operation
  public boolean append() throws IOException {
    int mine = stored.incrementAndGet();
    shared.force(this, 0, 1);
    return durable.get() >= mine;
  }

  /** The same, one at a time. */
  public static final class Specification {

    /** Always. */
    public boolean append() {
      return true;
    }
  }
}
