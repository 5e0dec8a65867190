/**
 * Calls that end in time: work on threads of its own, with a deadline that the caller keeps to. All
 * methods may be called by any number of threads.
 *
 * <p>Public doors: {@link io.strata.kafka.migration.remote.calls.Deadlines}, {@link
 * io.strata.kafka.migration.remote.calls.CallControl}, which the work asks, and {@link
 * io.strata.kafka.migration.remote.calls.TimeLimitException}. Does not know the remote tier.
 */
@NullMarked
package io.strata.kafka.migration.remote.calls;

import org.jspecify.annotations.NullMarked;
