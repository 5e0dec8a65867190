/**
 * Media, processes and clients that misbehave under a running broker: file systems that are full,
 * read-only, slow or gone, bits that flip, limits that are reached. Open {@link
 * io.strata.kafka.it.faults.FailingMedia} first, which has what these tests share.
 */
@NullMarked
package io.strata.kafka.it.faults;

import org.jspecify.annotations.NullMarked;
