/**
 * Clients under load on one host: when each record is due, its payload, and what is measured.
 *
 * <p>Door: {@link io.strata.kafka.bench.load.PhaseLoad}, the clients of one phase.
 */
@NullMarked
package io.strata.kafka.bench.load;

import org.jspecify.annotations.NullMarked;
