/**
 * The commands on pools and hot segments: {@code pool}, {@code segments}, {@code drain}, {@code
 * accept-loss}.
 *
 * <p>Door: {@link io.strata.kafka.cli.pool.PoolCommand}.
 */
@NullMarked
package io.strata.kafka.cli.pool;

import org.jspecify.annotations.NullMarked;
