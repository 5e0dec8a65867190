package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.nio.file.Path;

/**
 * A file in a log directory that carries a segment's tag. Immutable.
 *
 * @param file the file's path, below the directory that was walked
 * @param tag what its extended attribute names
 */
public record TaggedLogFile(Path file, SegmentTag tag) {}
