package io.strata.kafka.it.clients;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;

/**
 * The records that a client sends to one partition, in the lines that {@code
 * integration-tests/clients/README.md} describes: committed and aborted transactions, then records
 * of no transaction.
 */
final class ClientScript {

  /** Stands for a timestamp that the client chooses. */
  static final String ANY_TIME = "*";

  /** Stands for a null key, value, or value of a header. */
  static final String NULL = "-";

  private static final int TRANSACTIONS = 6;
  private static final int LARGEST_TRANSACTION = 100;
  private static final int PLAIN = 1_300;
  private static final long FIRST_TIMESTAMP = 1_700_000_000_000L;
  private static final HexFormat HEX = HexFormat.of();

  /** What a client cannot send. */
  enum Dialect {
    /** Everything. */
    FULL,
    /** kafkajs fails at a null value of a header. */
    NO_NULL_HEADERS,
    /**
     * kcat sends lines of text, each record with the same header and the time of sending, and
     * commits one transaction.
     */
    TEXT
  }

  private final Random random;
  private final Dialect dialect;
  private final List<String> transactional = new ArrayList<>();
  private final List<String> plain = new ArrayList<>();
  private int records;

  private ClientScript(long seed, Dialect dialect) {
    random = new Random(seed);
    this.dialect = dialect;
  }

  /** The script of the seed; two of one seed are equal. */
  static ClientScript of(long seed, Dialect dialect) {
    ClientScript script = new ClientScript(seed, dialect);
    int transactions = dialect == Dialect.TEXT ? 1 : TRANSACTIONS;
    for (int i = 0; i < transactions; i++) {
      script.transactional.add("begin");
      script.add(script.transactional, 1 + script.random.nextInt(LARGEST_TRANSACTION));
      script.transactional.add(i % 3 == 1 ? "abort" : "commit");
    }
    script.add(script.plain, PLAIN);
    return script;
  }

  /** Lines for a producer with a transactional id; sent before the others. */
  List<String> transactional() {
    return List.copyOf(transactional);
  }

  /** Where the records and markers of the transactions end. */
  long transactionalEnd() {
    return transactional.stream().filter(line -> !line.equals("begin")).count();
  }

  /** Lines for a producer without one. */
  List<String> plain() {
    return List.copyOf(plain);
  }

  /**
   * What a consumer finds: a line of each record, behind its offset and a tab.
   *
   * @param isolation {@code read_committed} or {@code read_uncommitted}
   */
  List<String> expected(String isolation) {
    List<String> all = new ArrayList<>();
    List<String> open = new ArrayList<>();
    long offset = 0;
    for (String line : transactional) {
      if (line.equals("begin")) {
        continue;
      }
      if (line.equals("commit") || line.equals("abort")) {
        if (line.equals("commit") || isolation.equals("read_uncommitted")) {
          all.addAll(open);
        }
        open.clear();
      } else {
        open.add(offset + "\t" + line);
      }
      offset++; // the marker at a transaction's end has an offset too
    }
    for (String line : plain) {
      all.add(offset + "\t" + line);
      offset++;
    }
    return all;
  }

  /** The offset of the last record, which any consumer sees. */
  long lastOffset() {
    String last = expected("read_committed").get(expected("read_committed").size() - 1);
    return Long.parseLong(last.substring(0, last.indexOf('\t')));
  }

  private void add(List<String> lines, int count) {
    for (int i = 0; i < count; i++) {
      lines.add(dialect == Dialect.TEXT ? text() : binary());
      records++;
    }
  }

  private String binary() {
    List<String> fields = new ArrayList<>();
    fields.add(Long.toString(FIRST_TIMESTAMP + records));
    fields.add(random.nextInt(4) == 0 ? NULL : HEX.formatHex(bytes(random.nextInt(40))));
    fields.add(random.nextInt(10) == 0 ? NULL : HEX.formatHex(value()));
    // kafkajs has headers by their names: those of one name follow each other.
    for (String name : List.of("trace", "größe")) {
      int count = random.nextInt(3);
      for (int i = 0; i < count; i++) {
        boolean isNull = dialect == Dialect.FULL && random.nextInt(4) == 0;
        String value = isNull ? NULL : HEX.formatHex(headerValue());
        fields.add(HEX.formatHex(name.getBytes(UTF_8)) + "=" + value);
      }
    }
    return String.join("\t", fields);
  }

  private String text() {
    return String.join(
        "\t",
        ANY_TIME,
        random.nextInt(4) == 0 ? NULL : letters(1 + random.nextInt(40)),
        random.nextInt(10) == 0 ? NULL : letters(1 + random.nextInt(2_400)),
        HEX.formatHex("sender".getBytes(UTF_8)) + "=" + HEX.formatHex("kcat".getBytes(UTF_8)));
  }

  private byte[] value() {
    if (random.nextInt(400) == 0) {
      return bytes(60_000);
    }
    int length = random.nextInt(10) == 0 ? 0 : random.nextInt(2_400);
    return random.nextInt(8) == 0 ? "abc ".repeat(length / 4).getBytes(UTF_8) : bytes(length);
  }

  private byte[] bytes(int length) {
    byte[] bytes = new byte[length];
    random.nextBytes(bytes);
    return bytes;
  }

  /** Without the bytes between which kcat prints it. */
  private byte[] headerValue() {
    byte[] bytes = bytes(random.nextInt(20));
    for (int i = 0; i < bytes.length; i++) {
      if (bytes[i] == 0 || bytes[i] == '\n' || bytes[i] == ',' || bytes[i] == '=') {
        bytes[i] = (byte) 0xff;
      }
    }
    return bytes;
  }

  private String letters(int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) ('!' + random.nextInt('~' - '!'));
    }
    return HEX.formatHex(bytes);
  }
}
