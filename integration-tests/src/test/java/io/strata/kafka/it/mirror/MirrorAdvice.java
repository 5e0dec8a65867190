package io.strata.kafka.it.mirror;

import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import net.bytebuddy.asm.Advice;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager.IndexType;
import org.jspecify.annotations.Nullable;

/**
 * What is appended to the methods of Kafka's class: the bodies are copied into it. What they assign
 * to {@code returned} is what the method returns.
 */
@SuppressWarnings("UnusedVariable") // the method that the body is copied into uses it
final class MirrorAdvice {

  private MirrorAdvice() {}

  /** After {@code configure}. */
  static final class Configure {
    private Configure() {}

    @Advice.OnMethodExit
    static void exit(
        @Advice.This RemoteStorageManager self, @Advice.Argument(0) Map<String, ?> configs) {
      Mirror.configured(self, configs);
    }
  }

  /** After {@code copyLogSegmentData}. */
  static final class Copy {
    private Copy() {}

    @Advice.OnMethodExit
    static void exit(
        @Advice.This RemoteStorageManager self,
        @Advice.Argument(0) RemoteLogSegmentMetadata metadata,
        @Advice.Argument(1) LogSegmentData data,
        @Advice.Return(readOnly = false) Optional<CustomMetadata> returned)
        throws RemoteStorageException {
      returned = Mirror.copied(self, metadata, data, returned);
    }
  }

  /** After the fetch from a position on. */
  static final class Fetch {
    private Fetch() {}

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit(
        @Advice.This RemoteStorageManager self,
        @Advice.Argument(0) RemoteLogSegmentMetadata metadata,
        @Advice.Argument(1) int start,
        @Advice.Return(readOnly = false) InputStream returned,
        @Advice.Thrown @Nullable Throwable thrown)
        throws RemoteStorageException {
      returned = Mirror.fetched(self, metadata, start, returned, thrown);
    }
  }

  /** After the fetch of a range. */
  static final class FetchRange {
    private FetchRange() {}

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit(
        @Advice.This RemoteStorageManager self,
        @Advice.Argument(0) RemoteLogSegmentMetadata metadata,
        @Advice.Argument(1) int start,
        @Advice.Argument(2) int end,
        @Advice.Return(readOnly = false) InputStream returned,
        @Advice.Thrown @Nullable Throwable thrown)
        throws RemoteStorageException {
      returned = Mirror.fetchedRange(self, metadata, start, end, returned, thrown);
    }
  }

  /** After {@code fetchIndex}. */
  static final class FetchIndex {
    private FetchIndex() {}

    @Advice.OnMethodExit(onThrowable = Throwable.class)
    static void exit(
        @Advice.This RemoteStorageManager self,
        @Advice.Argument(0) RemoteLogSegmentMetadata metadata,
        @Advice.Argument(1) IndexType type,
        @Advice.Return(readOnly = false) InputStream returned,
        @Advice.Thrown @Nullable Throwable thrown)
        throws RemoteStorageException {
      returned = Mirror.fetchedIndex(self, metadata, type, returned, thrown);
    }
  }

  /** After {@code deleteLogSegmentData}. */
  static final class Delete {
    private Delete() {}

    @Advice.OnMethodExit
    static void exit(
        @Advice.This RemoteStorageManager self,
        @Advice.Argument(0) RemoteLogSegmentMetadata metadata)
        throws RemoteStorageException {
      Mirror.deleted(self, metadata);
    }
  }

  /** After {@code close}. */
  static final class Close {
    private Close() {}

    @Advice.OnMethodExit
    static void exit(@Advice.This RemoteStorageManager self) {
      Mirror.closed(self);
    }
  }
}
