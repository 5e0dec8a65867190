package io.strata.kafka.tier;

import io.strata.kafka.segment.SegmentTag;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A file in a log directory that carries a segment's tag. Immutable.
 *
 * @param file the file's path, below the directory that was walked
 * @param tag what its extended attribute names
 * @param below what the attribute of the copy below names, if there is one
 */
public record TaggedHome(Path file, SegmentTag tag, Optional<SegmentTag> below) {}
