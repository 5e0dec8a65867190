/** Calls that end in time: work on threads of its own, with a deadline that the caller keeps to. */
@NullMarked
package io.strata.kafka.migration.remote.calls;

import org.jspecify.annotations.NullMarked;
