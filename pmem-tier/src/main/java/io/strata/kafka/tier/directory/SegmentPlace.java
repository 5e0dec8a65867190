package io.strata.kafka.tier.directory;

import java.nio.file.Path;
import java.util.UUID;

/**
 * Where a new segment belongs: what its slot records. Immutable.
 *
 * @param directoryId the log directory's identity
 * @param relativePath the file's path relative to its log directory
 * @param file the file itself, by its real path
 */
public record SegmentPlace(UUID directoryId, String relativePath, Path file) {}
