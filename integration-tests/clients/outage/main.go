// The Go clients of outage.py: NAME BOOTSTRAP TOPIC PARTITIONS RECORDS PAUSE, the pause in microseconds.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

var (
	lock  sync.Mutex
	left  int
	pause time.Duration
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func take(partition int, offset int64) {
	lock.Lock()
	defer lock.Unlock()
	fmt.Println(time.Now().UnixMilli(), partition, offset)
	left--
	if left == 0 {
		os.Exit(0)
	}
	if left%20 == 0 {
		time.Sleep(20 * pause)
	}
}

type handler struct{}

func (handler) Setup(sarama.ConsumerGroupSession) error   { return nil }
func (handler) Cleanup(sarama.ConsumerGroupSession) error { return nil }
func (handler) ConsumeClaim(session sarama.ConsumerGroupSession, claim sarama.ConsumerGroupClaim) error {
	for message := range claim.Messages() {
		take(int(message.Partition), message.Offset)
		session.MarkMessage(message, "")
	}
	return nil
}

func main() {
	name, bootstrap, topic := os.Args[1], os.Args[2], os.Args[3]
	left = number(os.Args[4]) * number(os.Args[5])
	pause = time.Duration(number(os.Args[6])) * time.Microsecond
	ctx := context.Background()
	switch name {
	case "franz-go":
		client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap), kgo.ConsumerGroup(name), kgo.ConsumeTopics(topic),
			kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
		check(err)
		for {
			fetches := client.PollFetches(ctx)
			for _, failed := range fetches.Errors() {
				fmt.Fprintln(os.Stderr, failed.Err)
			}
			fetches.EachRecord(func(r *kgo.Record) { take(int(r.Partition), r.Offset) })
		}
	case "sarama":
		config := sarama.NewConfig()
		config.Consumer.Offsets.Initial = sarama.OffsetOldest
		group, err := sarama.NewConsumerGroup([]string{bootstrap}, name, config)
		check(err)
		for {
			if err := group.Consume(ctx, []string{topic}, handler{}); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	case "segmentio":
		reader := kafka.NewReader(kafka.ReaderConfig{Brokers: []string{bootstrap}, GroupID: name, Topic: topic,
			StartOffset: kafka.FirstOffset, MaxBytes: 10e6})
		for {
			message, err := reader.ReadMessage(ctx)
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				continue
			}
			take(message.Partition, message.Offset)
		}
	}
}
