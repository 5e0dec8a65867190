package io.strata.kafka.broker;

import io.strata.kafka.migration.remote.store.LocalSegments;
import io.strata.kafka.tier.HotTier;
import java.io.IOException;
import java.nio.file.Path;

/**
 * The remote tier's view of a broker's tier, in whatever paths it has them.
 *
 * <p>Thread safety: all methods may be called by any number of threads.
 */
final class TierLocalSegments implements LocalSegments {

  private final HotTier tier;

  TierLocalSegments(HotTier tier) {
    this.tier = tier;
  }

  @Override
  public boolean share(Path segment, Path target) throws IOException {
    return tier.share(JdkFileSystem.path(segment), JdkFileSystem.path(target));
  }
}
