/**
 * Long runs: a broker under all kinds of load that must not grow, and a random walk over the
 * operations of an ordinary year. Open {@link io.strata.kafka.it.soak.Soak} first; {@code soak.sh}
 * runs it for hours.
 */
@NullMarked
package io.strata.kafka.it.soak;

import org.jspecify.annotations.NullMarked;
