package io.strata.kafka.migration.remote;

import java.io.IOException;
import java.io.InputStream;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.server.log.remote.storage.LogSegmentData;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteLogSegmentMetadata.CustomMetadata;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RemoteStorageManager;

/** A manager that does what its configuration says: it fails in all the ways there are. */
public class ScriptedManager implements RemoteStorageManager {

  /** What a call does. */
  @FunctionalInterface
  interface Script {
    /** Answers, or fails. */
    Object run(String call) throws RemoteStorageException, IOException;
  }

  private Script script = call -> Optional.empty();

  @Override
  public void configure(Map<String, ?> configs) {
    if (configs.get("script") instanceof Script given) {
      script = given;
    }
    try {
      Object unused = script.run("configure");
    } catch (RemoteStorageException | IOException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private Object run(String call) throws RemoteStorageException {
    try {
      return script.run(call);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  @SuppressWarnings("unchecked")
  public Optional<CustomMetadata> copyLogSegmentData(
      RemoteLogSegmentMetadata segment, LogSegmentData data) throws RemoteStorageException {
    return (Optional<CustomMetadata>) run("copy");
  }

  @Override
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start)
      throws RemoteStorageException {
    return (InputStream) run("fetch");
  }

  @Override
  @SuppressWarnings("NullAway") // Some answer null: that is what is tried.
  public InputStream fetchLogSegment(RemoteLogSegmentMetadata segment, int start, int end)
      throws RemoteStorageException {
    Object answer = run("fetch");
    return answer instanceof InputStream in ? in : null;
  }

  @Override
  public InputStream fetchIndex(RemoteLogSegmentMetadata segment, IndexType indexType)
      throws RemoteStorageException {
    return (InputStream) run("index");
  }

  @Override
  public void deleteLogSegmentData(RemoteLogSegmentMetadata segment) throws RemoteStorageException {
    Object unused = run("delete");
  }

  @Override
  public void close() throws IOException {
    Object unused;
    try {
      unused = script.run("close");
    } catch (RemoteStorageException e) {
      throw new IOException(e);
    }
  }

  /** Its constructor takes something. */
  public static final class NeedsSomething extends ScriptedManager {
    NeedsSomething(String something) {
      throw new IllegalStateException(something);
    }
  }

  /** Its constructor fails. */
  public static final class FailsAtOnce extends ScriptedManager {
    /** Fails. */
    public FailsAtOnce() {
      throw new IllegalStateException("no such bucket");
    }
  }

  /** It cannot be initialized. */
  public static final class FailsToLoad extends ScriptedManager {
    private static final int NUMBER = Integer.parseInt("none");

    /** Never comes to that. */
    public FailsToLoad() {
      throw new IllegalStateException("" + NUMBER);
    }
  }

  /** There is something to be written yet. */
  public abstract static class Unfinished extends ScriptedManager {}
}
