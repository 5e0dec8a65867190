/**
 * Bytes that outlive the process: the memory types and what durability each really has.
 *
 * <p>Public doors: {@link io.strata.kafka.memory.PersistentMemory}, its {@link
 * io.strata.kafka.memory.MemoryType} and {@link io.strata.kafka.memory.Durability}, and {@link
 * io.strata.kafka.memory.MemoryOpener}, which opens them; {@link
 * io.strata.kafka.memory.calls.LibC}, the system calls, and what is done without them. This package
 * does not know pools, segments or Kafka.
 */
@NullMarked
package io.strata.kafka.memory;

import org.jspecify.annotations.NullMarked;
