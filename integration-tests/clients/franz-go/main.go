// The client of the tests for franz-go; ../README.md has the commands.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

const longestLine = 1 << 20

var codecs = map[string]kgo.CompressionCodec{
	"none":   kgo.NoCompression(),
	"gzip":   kgo.GzipCompression(),
	"snappy": kgo.SnappyCompression(),
	"lz4":    kgo.Lz4Compression(),
	"zstd":   kgo.ZstdCompression(),
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func decode(field string) []byte {
	if field == "-" {
		return nil
	}
	value, err := hex.DecodeString(field)
	check(err)
	return value
}

func encode(value []byte) string {
	if value == nil {
		return "-"
	}
	return hex.EncodeToString(value)
}

func number(field string) int64 {
	value, err := strconv.ParseInt(field, 10, 64)
	check(err)
	return value
}

func record(line, topic string, partition int32) *kgo.Record {
	fields := strings.Split(line, "\t")
	record := &kgo.Record{
		Topic:     topic,
		Partition: partition,
		Timestamp: time.UnixMilli(number(fields[0])),
		Key:       decode(fields[1]),
		Value:     decode(fields[2]),
	}
	for _, header := range fields[3:] {
		name, value, _ := strings.Cut(header, "=")
		record.Headers = append(record.Headers, kgo.RecordHeader{Key: string(decode(name)), Value: decode(value)})
	}
	return record
}

func produce(bootstrap, topic, partition, codec string, transactionalID []string) {
	options := []kgo.Opt{
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(codecs[codec]),
	}
	if len(transactionalID) > 0 {
		options = append(options, kgo.TransactionalID(transactionalID[0]))
	}
	client, err := kgo.NewClient(options...)
	check(err)
	defer client.Close()
	ctx := context.Background()
	var failed sync.Once
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(make([]byte, longestLine), longestLine)
	for input.Scan() {
		switch line := input.Text(); line {
		case "begin":
			check(client.BeginTransaction())
		case "commit":
			check(client.Flush(ctx))
			check(client.EndTransaction(ctx, kgo.TryCommit))
		case "abort":
			check(client.Flush(ctx))
			check(client.EndTransaction(ctx, kgo.TryAbort))
		default:
			client.Produce(ctx, record(line, topic, int32(number(partition))), func(_ *kgo.Record, err error) {
				if err != nil {
					failed.Do(func() { check(err) })
				}
			})
		}
	}
	check(input.Err())
	check(client.Flush(ctx))
}

func consume(bootstrap, topic, isolation string, lastOffsets []string) {
	left := map[int32]int64{}
	from := map[int32]kgo.Offset{}
	for _, last := range lastOffsets {
		partition, offset, _ := strings.Cut(last, ":")
		left[int32(number(partition))] = number(offset)
		from[int32(number(partition))] = kgo.NewOffset().AtStart()
	}
	level := kgo.ReadUncommitted()
	if isolation == "read_committed" {
		level = kgo.ReadCommitted()
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(bootstrap, ",")...),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: from}),
		kgo.FetchIsolationLevel(level),
	)
	check(err)
	defer client.Close()
	output := bufio.NewWriter(os.Stdout)
	for len(left) > 0 {
		fetches := client.PollFetches(context.Background())
		for _, failed := range fetches.Errors() {
			check(failed.Err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			last, wanted := left[r.Partition]
			if !wanted {
				return
			}
			fmt.Fprintf(output, "%d\t%d\t%d\t%s\t%s", r.Partition, r.Offset, r.Timestamp.UnixMilli(), encode(r.Key), encode(r.Value))
			for _, header := range r.Headers {
				fmt.Fprintf(output, "\t%s=%s", hex.EncodeToString([]byte(header.Key)), encode(header.Value))
			}
			fmt.Fprintln(output)
			if r.Offset >= last {
				delete(left, r.Partition)
			}
		})
	}
	check(output.Flush())
}

func version() {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/twmb/franz-go" {
			fmt.Println("franz-go", module.Version)
		}
	}
}

func main() {
	switch arguments := os.Args[2:]; os.Args[1] {
	case "produce":
		produce(arguments[0], arguments[1], arguments[2], arguments[3], arguments[4:])
	case "consume":
		consume(arguments[0], arguments[1], arguments[2], arguments[3:])
	case "version":
		version()
	}
}
