/** Benchmarks (JMH), run by hand: docs/design/performance.md has the commands. */
@NullMarked
package io.strata.kafka.it.bench;

import org.jspecify.annotations.NullMarked;
