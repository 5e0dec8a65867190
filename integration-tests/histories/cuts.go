package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/sys/unix"
)

const (
	ext4Shutdown = 0x8004587d // EXT4_IOC_SHUTDOWN
	noLogFlush   = 2
	power        = "power" // what has the power: the file system's mount point
)

// ledger is what was sent to one topic before the power went.
type ledger struct {
	topic string
	id    [16]byte
	mu    sync.Mutex
	acked map[string]TopicPartition
}

func (l *ledger) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acked)
}

// cuts takes the power from controller and brokers at once, again and again, and counts what is lost. All of them have one
// ext4 of their own. While they are suspended it is shut down as fstests do it: what was not forced never reaches the
// device. Then they are killed; the file system is mounted again, and they start. Pools on emulated DAX are in memory, which
// has what was flushed, and by chance more.
func cuts(o options) (int, error) {
	_ = unix.Unmount(filepath.Join(o.folder, power), 0)
	if err := os.RemoveAll(o.folder); err != nil {
		return 1, err
	}
	data := filepath.Join(o.folder, power)
	image := filepath.Join(o.folder, "disk.img")
	if err := os.MkdirAll(data, 0o755); err != nil {
		return 1, err
	}
	for _, command := range [][]string{{"truncate", "-s", "4G", image}, {"mke2fs", "-q", "-t", "ext4", "-F", image}, {"mount", "-o", "loop", image, data}} {
		if said, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return 1, fmt.Errorf("%v: %w: %s", command, err, said)
		}
	}
	defer func() { _ = unix.Unmount(data, unix.MNT_DETACH) }()
	pools, kind, memory := acknowledged, "strata, durability=ack", ""
	if o.stock {
		kind = "stock"
	} else if o.shadow != "" {
		pools, kind = dax, "strata, pools on emulated DAX"
		var err error
		if memory, err = os.MkdirTemp("/dev/shm", "strata-cuts-"); err != nil {
			return 1, err
		}
		defer os.RemoveAll(memory)
	}
	c, err := newCluster(o.folder, data, memory, o, pools)
	if c != nil {
		defer c.stop()
	}
	if err != nil {
		return 1, err
	}
	unix.Sync()
	if pools == dax && c.shadows() < replicas {
		return 1, errors.New("not each broker has a shadow over its pool")
	}
	var all []*ledger
	acked, lost, losing := 0, 0, 0
	for i := range o.cuts {
		seed := o.seed + int64(i)
		begin := time.Now()
		l, err := cut(o, c, data, image, seed)
		if err != nil {
			return 1, fmt.Errorf("cut %d, seed %d: %w", i+1, seed, err)
		}
		all = append(all, l)
		found, gone, err := audit(c, l)
		for again := 0; o.stock && err != nil && again < 5; again++ {
			// Replicas that have lost different ends still truncate.
			time.Sleep(5 * time.Second)
			found, gone, err = audit(c, l)
		}
		if err != nil {
			return 1, fmt.Errorf("cut %d, seed %d: %w", i+1, seed, err)
		}
		acked, lost = acked+l.count(), lost+gone
		if gone > 0 {
			losing++
		}
		fmt.Printf("%s: cut %d seed %d: %d acknowledged, %d found, %d of the acknowledged lost, %.0f s\n",
			kind, i+1, seed, l.count(), found, gone, time.Since(begin).Seconds())
	}
	if !o.stock {
		// What was acknowledged before the first cut is there after the last.
		for _, l := range all {
			_, gone, err := audit(c, l)
			if err != nil {
				return 1, err
			}
			if gone > 0 {
				fmt.Printf("%s: %d acknowledged records of %s are gone after later cuts\n", kind, gone, l.topic)
				lost += gone
			}
		}
	}
	fmt.Printf("%s: %d cuts of three brokers at once, %d acknowledged, %d lost, by %d cuts, %d lines of spills\n",
		kind, o.cuts, acked, lost, losing, c.spilled())
	// Stock Kafka has to lose: the cut is real.
	if (lost > 0) != o.stock {
		return 1, nil
	}
	return 0, nil
}

// cut sends to a topic of its own, takes the power, and starts everything again.
func cut(o options, c *Cluster, data, image string, seed int64) (*ledger, error) {
	random := rand.New(rand.NewSource(seed))
	l := &ledger{topic: fmt.Sprintf("cut-%d", seed), acked: map[string]TopicPartition{}}
	cl, err := client(c, kgo.RecordDeliveryTimeout(2*time.Minute), kgo.ProduceRequestTimeout(20*time.Second))
	if err != nil {
		return nil, err
	}
	admin := kadm.NewClient(cl)
	isr := "2"
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		_, _ = admin.CreateTopic(ctx, plainPartitions, replicas, map[string]*string{"min.insync.replicas": &isr}, l.topic)
		cancel()
		if err = inSync(admin, l); err == nil {
			break
		}
		if time.Now().After(end) {
			return nil, err
		}
	}
	enough := 300 + random.Intn(5000)
	flying := make(chan struct{}, 100)
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for i := 0; l.count() < enough; i++ {
		flying <- struct{}{}
		log := TopicPartition{l.topic, int32(random.Intn(plainPartitions))}
		id := fmt.Sprintf("c%d-%d", seed, i)
		cl.Produce(ctx, &kgo.Record{Topic: log.Topic, Partition: log.Partition, Value: value(id)}, func(_ *kgo.Record, err error) {
			if err == nil {
				l.mu.Lock()
				l.acked[id] = log
				l.mu.Unlock()
			}
			<-flying
		})
		time.Sleep(time.Millisecond)
	}
	nodes := append([]*Node{c.controller}, c.brokers...)
	for _, n := range nodes {
		n.signal(syscall.SIGSTOP)
	}
	time.Sleep(50 * time.Millisecond) // answers that were on their way
	f, err := os.Open(data)
	if err != nil {
		return nil, err
	}
	err = unix.IoctlSetPointerInt(int(f.Fd()), ext4Shutdown, noLogFlush)
	f.Close()
	for _, n := range nodes {
		n.kill()
	}
	stop()
	cl.Close()
	if err != nil {
		return nil, fmt.Errorf("the file system cannot be shut down: %w", err)
	}
	var said []byte
	for range 50 {
		if err = unix.Unmount(data, 0); err == nil || !errors.Is(err, unix.EBUSY) {
			break
		}
		time.Sleep(200 * time.Millisecond)
	}
	if err == nil {
		said, err = exec.Command("mount", "-o", "loop", image, data).CombinedOutput()
	}
	if err != nil {
		return nil, fmt.Errorf("the file system cannot be mounted again: %w: %s", err, said)
	}
	return l, c.start(o.stock, nodes...)
}

// inSync fails until every partition of the ledger's topic has all replicas in sync.
func inSync(admin *kadm.Client, l *ledger) error {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	found, err := admin.ListTopics(ctx, l.topic)
	if err == nil {
		err = found.Error()
	}
	if err != nil {
		return err
	}
	partitions := found[l.topic].Partitions
	if len(partitions) != plainPartitions {
		return fmt.Errorf("%s has %d partitions", l.topic, len(partitions))
	}
	for _, p := range partitions {
		if p.Leader < 0 || len(p.ISR) != replicas {
			return fmt.Errorf("%s-%d has leader %d, in sync %v", l.topic, p.Partition, p.Leader, p.ISR)
		}
	}
	l.id = found[l.topic].ID
	return nil
}

// audit reads a topic from its leaders; returns how many records are there, and how many acknowledged ones are not.
func audit(c *Cluster, l *ledger) (int, int, error) {
	cl, err := client(c)
	if err != nil {
		return 0, 0, err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		if err = inSync(admin, l); err == nil {
			break
		}
		if time.Now().After(end) {
			return 0, 0, err
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ends, err := admin.ListEndOffsets(ctx, l.topic)
	if err == nil {
		err = ends.Error()
	}
	if err != nil {
		return 0, 0, err
	}
	found, err := admin.ListTopics(ctx, l.topic)
	if err != nil {
		return 0, 0, err
	}
	r := &Recorder{}
	there := map[string]TopicPartition{}
	records := 0
	for _, p := range found[l.topic].Partitions {
		log := TopicPartition{l.topic, p.Partition}
		end, _ := ends.Lookup(l.topic, p.Partition)
		entries, err := replica(cl, r, map[string][16]byte{l.topic: l.id}, p.Leader, log, end.Offset)
		if err != nil {
			return 0, 0, err
		}
		for _, e := range entries {
			there[e.ID] = log
			records++
		}
	}
	if len(r.h.Damaged) > 0 || records != len(there) {
		return 0, 0, fmt.Errorf("%s: damaged records %v, %d records twice", l.topic, r.h.Damaged, records-len(there))
	}
	lost := 0
	for id, log := range l.acked {
		if there[id] != log {
			lost++
		}
	}
	return records, lost, nil
}
