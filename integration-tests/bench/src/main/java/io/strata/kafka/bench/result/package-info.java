/**
 * Results: figures with all that is needed to judge and to repeat them, as JSON and CSV.
 *
 * <p>Doors: {@link io.strata.kafka.bench.result.RunResult} is one run's, {@link
 * io.strata.kafka.bench.result.ResultFiles} reads and writes it.
 */
@NullMarked
package io.strata.kafka.bench.result;

import org.jspecify.annotations.NullMarked;
