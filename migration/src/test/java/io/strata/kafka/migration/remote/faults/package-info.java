/** A file system whose directories hang, fail or are read only when a test says so. */
@NullMarked
package io.strata.kafka.migration.remote.faults;

import org.jspecify.annotations.NullMarked;
