/**
 * Benchmarks of single parts and of the remote tier, run by {@code bench.sh}:
 * docs/design/performance.md and docs/benchmarks.md have the commands. Load on brokers is {@code
 * strata-bench}'s. Open {@link io.strata.kafka.it.bench.RemoteComparison} first.
 */
@NullMarked
package io.strata.kafka.it.bench;

import org.jspecify.annotations.NullMarked;
