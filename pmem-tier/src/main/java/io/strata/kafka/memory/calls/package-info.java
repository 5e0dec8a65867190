/**
 * Calls that the JDK does not make: libc and libpmem, and the limits of a mapping.
 *
 * <p>Door: {@link io.strata.kafka.memory.calls.LibC}, which also says what is missing.
 */
@NullMarked
package io.strata.kafka.memory.calls;

import org.jspecify.annotations.NullMarked;
