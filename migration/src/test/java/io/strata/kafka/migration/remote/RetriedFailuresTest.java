package io.strata.kafka.migration.remote;

import static org.assertj.core.api.Assertions.assertThat;

import io.strata.kafka.migration.remote.RemoteMeters.RetriedFailures;
import io.strata.kafka.migration.remote.RemoteStats.Cause;
import io.strata.kafka.migration.remote.RemoteStats.Operation;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.server.log.remote.storage.RemoteStorageException;
import org.apache.kafka.server.log.remote.storage.RetriableRemoteStorageException;
import org.junit.jupiter.api.Test;

class RetriedFailuresTest {

  private final AtomicLong nanos = new AtomicLong(-5);
  private final List<String> log = new ArrayList<>();
  private final RetriedFailures failures =
      new RetriedFailures(
          nanos::get, (message, fault) -> log.add(message + fault.map(f -> " " + f).orElse("")));

  @Test
  void tellsWhatKafkaDoesNot() {
    failures.failed(Operation.COPY, Cause.FULL, new RetriableRemoteStorageException("no space"));
    failures.failed(Operation.DELETE, Cause.IO, new RetriableRemoteStorageException("no disk"));
    assertThat(log).containsExactly("no space. Kafka tries again", "no disk. Kafka tries again");
  }

  @Test
  void isSilentWhereKafkaLogs() {
    failures.failed(Operation.COPY, Cause.CORRUPT, new RemoteStorageException("damaged"));
    failures.failed(Operation.FETCH, Cause.IO, new RetriableRemoteStorageException("no disk"));
    failures.failed(Operation.INDEX, Cause.IO, new RetriableRemoteStorageException("no disk"));
    failures.failed(
        Operation.COPY, Cause.CANCELLED, new RetriableRemoteStorageException("cancelled"));
    assertThat(log).isEmpty();
  }

  @Test
  void logsFaultsOfEveryOperationWithWhereTheyCameFrom() {
    failures.failed(Operation.FETCH, Cause.FAULT, new RemoteStorageException("too deep"));
    assertThat(log)
        .containsExactly(
            "too deep. This is a fault of Strata's or of the JVM's "
                + RemoteStorageException.class.getName()
                + ": too deep");
  }

  @Test
  void tellsEachCauseOnceAMinute() {
    for (int i = 0; i < 4; i++) {
      failures.failed(Operation.COPY, Cause.FULL, new RetriableRemoteStorageException("no space"));
      nanos.addAndGet(TimeUnit.SECONDS.toNanos(15));
    }
    failures.failed(Operation.COPY, Cause.TIMEOUT, new RetriableRemoteStorageException("late"));
    failures.failed(Operation.COPY, Cause.FULL, new RetriableRemoteStorageException("no space"));
    assertThat(log)
        .containsExactly(
            "no space. Kafka tries again",
            "late. Kafka tries again",
            "no space. Kafka tries again; 3 more failed so since this was last said");
  }
}
