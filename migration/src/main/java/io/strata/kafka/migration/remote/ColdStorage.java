package io.strata.kafka.migration.remote;

import io.strata.kafka.migration.EngineEnvironment;
import io.strata.kafka.migration.remote.store.ColdLevel;
import io.strata.kafka.migration.remote.store.Manifest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Optional;

/** Placeholder until the manager's loader is there. */
final class ColdStorage implements ColdLevel, AutoCloseable {

  static ColdStorage load(
      RemoteSettings.Cold cold, RemoteSettings settings, EngineEnvironment engine) {
    if (cold.className().isEmpty()) {
      return new ColdStorage();
    }
    throw new IllegalArgumentException(
        "rsm.config.cold.class.name: found " + cold.className() + ", expected none yet");
  }

  @Override
  public String className() {
    return "";
  }

  @Override
  public Optional<byte[]> copy(Manifest manifest, Path directory) throws IOException {
    throw new IOException("no cold manager");
  }

  @Override
  public void read(Manifest manifest, Optional<byte[]> custom, long position, ByteBuffer target)
      throws IOException {
    throw new IOException("no cold manager");
  }

  @Override
  public void delete(Manifest manifest, Optional<byte[]> custom) throws IOException {
    throw new IOException("no cold manager");
  }

  @Override
  public void close() {}
}
