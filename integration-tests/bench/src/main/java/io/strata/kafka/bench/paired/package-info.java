/**
 * Contenders in turns: each starts a broker of its own, runs the scenario against it, and stops it.
 *
 * <p>Doors: {@link io.strata.kafka.bench.paired.PairedRunner}, and {@link
 * io.strata.kafka.bench.paired.Contender} for who takes part.
 */
@NullMarked
package io.strata.kafka.bench.paired;

import org.jspecify.annotations.NullMarked;
