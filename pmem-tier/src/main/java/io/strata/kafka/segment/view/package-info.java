/**
 * A segment as readers see it while a writer changes it, and the tag that ties a log file to its
 * slot.
 *
 * <p>Door: {@link io.strata.kafka.segment.view.HotView}, read under {@link
 * io.strata.kafka.segment.view.ReaderGate}.
 */
@NullMarked
package io.strata.kafka.segment.view;

import org.jspecify.annotations.NullMarked;
