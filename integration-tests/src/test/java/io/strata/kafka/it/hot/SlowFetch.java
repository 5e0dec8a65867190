package io.strata.kafka.it.hot;

import io.strata.kafka.it.harness.StockBroker;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.record.internal.Records;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.RequestHeader;

/**
 * One fetch by a client that takes its time: the broker has found the bytes and begun to send them,
 * and sends the rest when the client reads on. Not thread-safe.
 */
final class SlowFetch implements AutoCloseable {

  /** The last version that names topics and not their ids. */
  private static final short VERSION = 12;

  /** So little that the broker's first attempts fill it. */
  private static final int RECEIVE_BUFFER = 8 << 10;

  private static final int FIRST_BYTES = 1 << 10;

  private final Socket socket;
  private final RequestHeader header;
  private final TopicPartition partition;
  private final byte[] response;

  private SlowFetch(
      Socket socket, RequestHeader header, TopicPartition partition, byte[] response) {
    this.socket = socket;
    this.header = header;
    this.partition = partition;
    this.response = response;
  }

  /** Asks for the bytes from the offset on, and reads the first of them. */
  static SlowFetch begin(StockBroker broker, TopicPartition partition, long offset, int maxBytes)
      throws IOException {
    Socket socket = new Socket();
    socket.setReceiveBufferSize(RECEIVE_BUFFER);
    String[] address = broker.bootstrap().split(":", 2);
    socket.connect(
        new InetSocketAddress(InetAddress.getByName(address[0]), Integer.parseInt(address[1])));
    RequestHeader header = new RequestHeader(ApiKeys.FETCH, VERSION, "slow", 1);
    ByteBuffer request =
        FetchRequest.Builder.forConsumer(
                VERSION,
                500,
                1,
                new LinkedHashMap<>(
                    Map.of(
                        partition,
                        new FetchRequest.PartitionData(
                            Uuid.ZERO_UUID, offset, 0, maxBytes, Optional.empty()))))
            .setMaxBytes(maxBytes)
            .build(VERSION)
            .serializeWithHeader(header);
    ByteBuffer framed = ByteBuffer.allocate(Integer.BYTES + request.remaining());
    framed.putInt(request.remaining()).put(request);
    socket.getOutputStream().write(framed.array());
    DataInputStream in = new DataInputStream(socket.getInputStream());
    byte[] response = new byte[in.readInt()];
    in.readFully(response, 0, FIRST_BYTES);
    return new SlowFetch(socket, header, partition, response);
  }

  /** How many bytes the answer has. */
  int length() {
    return response.length;
  }

  /** Reads the rest, and returns the records, whose batches' checksums are right. */
  List<Record> finish() throws IOException {
    new DataInputStream(socket.getInputStream())
        .readFully(response, FIRST_BYTES, response.length - FIRST_BYTES);
    FetchResponse parsed =
        (FetchResponse) AbstractResponse.parseResponse(ByteBuffer.wrap(response), header);
    Records records =
        FetchResponse.recordsOrFail(
            parsed.data().responses().stream()
                .filter(topic -> topic.topic().equals(partition.topic()))
                .findFirst()
                .orElseThrow()
                .partitions()
                .get(0));
    List<Record> all = new ArrayList<>();
    for (RecordBatch batch : records.batches()) {
      batch.ensureValid();
      batch.forEach(all::add);
    }
    return all;
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
