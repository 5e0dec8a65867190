/**
 * The identity of a file: which hot segment a log file's name leads to, under which lock.
 *
 * <p>Door: {@link io.strata.kafka.tier.files.SegmentRegistry}.
 */
@NullMarked
package io.strata.kafka.tier.files;

import org.jspecify.annotations.NullMarked;
