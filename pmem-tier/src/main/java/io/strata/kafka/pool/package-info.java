/**
 * The pool: a preallocated file that the segments' bytes live in, its slots and its free map.
 *
 * <p>Public doors: {@link io.strata.kafka.pool.Pool} (one writing process), {@link
 * io.strata.kafka.pool.Slot} with its {@link io.strata.kafka.pool.space.ExtentList}, {@link
 * io.strata.kafka.pool.PoolReader} (any process), {@link io.strata.kafka.pool.PoolChecker}, and
 * {@link io.strata.kafka.pool.words.PoolException}, which is how each of them refuses. The layout
 * is described in package {@code layout}, the rules in {@code docs/design/pool.md}. This package
 * knows nothing of Kafka, and logs nothing: it may run while the JVM boots.
 */
@NullMarked
package io.strata.kafka.pool;

import org.jspecify.annotations.NullMarked;
