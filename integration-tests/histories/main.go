// Histories runs three brokers with Strata, lets Go and Java clients work on them while brokers and links fail, and judges
// what the clients saw. See README.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
)

type options struct {
	folder, libs, jar, logging, source, shadow string
	histories, operations, faults              int
	seed                                       int64
	unclean                                    int
	stock                                      bool
	limit                                      time.Duration
	cuts                                       int
}

func main() {
	var o options
	flag.StringVar(&o.folder, "folder", "", "for brokers, pools, logs and histories that failed; emptied")
	flag.StringVar(&o.libs, "libs", "", "folder of Kafka's jars")
	flag.StringVar(&o.jar, "jar", "", "Strata's jar")
	flag.StringVar(&o.logging, "logging", "", "log4j2 configuration of the brokers")
	flag.StringVar(&o.source, "client", "Client.java", "the Java client's source")
	flag.IntVar(&o.histories, "histories", 100, "how many")
	flag.IntVar(&o.operations, "operations", 10_000, "of each history, at the least")
	flag.IntVar(&o.faults, "faults", 3, "of each history")
	flag.Int64Var(&o.seed, "seed", time.Now().Unix(), "of the first history; the next ones count on")
	flag.IntVar(&o.unclean, "unclean", 20, "every so many-th history allows unclean elections with min.insync.replicas=1: counted, not judged; 0 for none")
	flag.BoolVar(&o.stock, "stock", false, "brokers without Strata")
	flag.DurationVar(&o.limit, "limit", 0, "no history begins later")
	flag.IntVar(&o.cuts, "cuts", 0, "instead of histories: cuts of the power of all brokers at once, with strata.durability=ack, or with -shadow or -stock; needs root")
	flag.StringVar(&o.shadow, "shadow", "", "with -cuts: folder of the classes that ShadowPatch writes; pools are in memory that has only what was flushed")
	flag.Parse()
	if o.folder == "" || o.libs == "" || (o.jar == "" && !o.stock) {
		flag.Usage()
		os.Exit(2)
	}
	what := run
	if o.cuts > 0 {
		what = cuts
	}
	code, err := what(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "histories:", err)
		code = 1
	}
	os.Exit(code)
}

func run(o options) (int, error) {
	begin := time.Now()
	if err := os.RemoveAll(o.folder); err != nil {
		return 1, err
	}
	c, err := newCluster(o.folder, o.folder, "", o, mixed)
	if c != nil {
		defer c.stop()
	}
	if err != nil {
		return 1, err
	}
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		<-interrupted
		c.stop()
		os.Exit(130)
	}()
	java, err := startJava(c, o.source, o.libs)
	if err != nil {
		return 1, err
	}
	defer func() { _ = java.process.Process.Kill() }()
	good, bad, known, counted, operations, faults := 0, 0, 0, 0, 0, 0
	for i := range o.histories {
		if o.limit > 0 && time.Since(begin) > o.limit {
			fmt.Printf("%s have passed: %d of %d histories\n", o.limit, i, o.histories)
			break
		}
		seed := o.seed + int64(i)
		unclean := o.unclean > 0 && i%o.unclean == o.unclean-1
		started := time.Now()
		r, err := one(o, c, java, seed, unclean)
		if err != nil {
			return 1, fmt.Errorf("history %d, seed %d: %w; faults: %s", i+1, seed, err, strings.Join(r.faults, ", "))
		}
		judging := time.Now()
		v := Judge(&r.h)
		word := "GOOD"
		switch {
		case unclean:
			counted++
			word = "COUNTED (unclean elections)"
		case v.Good():
			good++
		case len(v.Problems) == 1 && v.Problems["aborted"] != nil && r.lateIndexes > 0:
			known++
			word = "KNOWN (Kafka's indexes of aborted transactions, see README.md)"
		default:
			bad++
			word = "BAD"
		}
		operations += r.h.Operations()
		faults += len(r.faults)
		acked := 0
		for _, a := range r.h.Appends {
			if a.Outcome == Done {
				acked++
			}
		}
		fmt.Printf("history %d seed %d: %d operations (%d appends, %d acknowledged; %d reads; %d ends of transactions) in %.0f s, judged in %.1f s; faults: %s; %d late index entries, %d fetches met a truncation; %s",
			i+1, seed, r.h.Operations(), len(r.h.Appends), acked, len(r.h.Reads), len(r.h.Ends), judging.Sub(started).Seconds(),
			time.Since(judging).Seconds(), strings.Join(r.faults, ", "), r.lateIndexes, r.truncations, word)
		if !v.Good() {
			fmt.Printf(": %s", v)
			if err := keep(o.folder, seed, r, v); err != nil {
				return 1, err
			}
		}
		fmt.Println()
	}
	fmt.Printf("%d histories good, %d bad, %d with a known limit of Kafka's, %d counted; %d operations, %d faults, %d lines of spills, %.0f s\n",
		good, bad, known, counted, operations, faults, c.spilled(), time.Since(begin).Seconds())
	if bad > 0 || good == 0 {
		return 1, nil
	}
	return 0, nil
}

// keep writes a history that failed, for a closer look; its topics are not deleted.
func keep(folder string, seed int64, r *Recorder, v *Verdict) error {
	replicas := map[string]map[int32][]Entry{}
	for log, all := range r.h.Replicas {
		replicas[log.String()] = all
	}
	text, err := json.Marshal(map[string]any{"faults": r.faults, "problems": v.Problems, "appends": r.h.Appends, "ends": r.h.Ends,
		"reads": r.h.Reads, "replicas": replicas})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, fmt.Sprintf("history-%d.json", seed)), text, 0o644)
}

// one runs one history, and reads what is there in the end.
func one(o options, c *Cluster, java *Java, seed int64, unclean bool) (*Recorder, error) {
	r := &Recorder{}
	topics := Topics{fmt.Sprintf("plain-%d", seed), fmt.Sprintf("txn-%d", seed)}
	cl, err := client(c)
	if err != nil {
		return r, err
	}
	defer cl.Close()
	admin := kadm.NewClient(cl)
	ids, err := create(admin, topics, unclean)
	if err != nil {
		return r, err
	}
	// Of ten operations, about three are each of the Go and the Java client's appends, one is of transactions, three are reads.
	share := func(percent int) int { return max(1, o.operations*percent/100) }
	reading, stopReading := context.WithCancel(context.Background())
	defer stopReading()
	var producers, readers sync.WaitGroup
	failed := make(chan error, 10)
	work := func(group *sync.WaitGroup, what func() error) {
		group.Add(1)
		go func() {
			defer group.Done()
			if err := what(); err != nil {
				failed <- err
			}
		}()
	}
	if err := java.start(r, topics, seed, share(27), share(1)); err != nil {
		return r, err
	}
	work(&producers, func() error { return produce(c, r, topics.plain, "g", seed, share(33), 2*time.Minute) })
	work(&producers, func() error { return produce(c, r, topics.plain, "h", seed, share(12), 3*time.Second) })
	work(&producers, func() error { return transact(c, r, topics.txn, seed, share(2)) })
	work(&readers, func() error { return readAnywhere(reading, c, r, ids, topics, seed+1) })
	work(&readers, func() error { return readAnywhere(reading, c, r, ids, topics, seed+2) })
	n := &nemesis{c, r, admin, topics, rand.New(rand.NewSource(seed)), o.stock}
	if err := n.run(o.faults); err != nil {
		return r, err
	}
	producers.Wait()
	if err := java.finish(); err != nil {
		return r, err
	}
	for end := time.Now().Add(patience); r.operations() < o.operations && time.Now().Before(end); {
		time.Sleep(50 * time.Millisecond)
	}
	stopReading()
	readers.Wait()
	select {
	case err := <-failed:
		return r, err
	default:
	}
	if err := final(c, r, cl, n, ids, topics); err != nil {
		return r, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	r.lateIndexes = lateIndexes(c, topics.txn)
	if unclean || Judge(&r.h).Good() {
		_, err = admin.DeleteTopics(ctx, topics.plain, topics.txn)
	}
	return r, err
}

func create(admin *kadm.Client, topics Topics, unclean bool) (map[string][16]byte, error) {
	isr, allowed := "2", fmt.Sprint(unclean)
	if unclean {
		isr = "1"
	}
	config := map[string]*string{"min.insync.replicas": &isr, "unclean.leader.election.enable": &allowed}
	ids := map[string][16]byte{}
	for end := time.Now().Add(patience); len(ids) < 2; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			return nil, fmt.Errorf("the topics cannot be created")
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		_, _ = admin.CreateTopic(ctx, plainPartitions, replicas, config, topics.plain)
		_, _ = admin.CreateTopic(ctx, txnPartitions, replicas, config, topics.txn)
		found, err := admin.ListTopics(ctx, topics.plain, topics.txn)
		cancel()
		if err != nil {
			continue
		}
		for name, t := range found {
			ready := t.Err == nil && len(t.Partitions) > 0
			for _, p := range t.Partitions {
				ready = ready && p.Leader >= 0
			}
			if ready {
				ids[name] = t.ID
			}
		}
	}
	return ids, nil
}

// final waits until every replica is in sync and reads each of them.
func final(c *Cluster, r *Recorder, cl *kgo.Client, n *nemesis, ids map[string][16]byte, topics Topics) error {
	ends := map[TopicPartition]int64{}
	leaders := map[TopicPartition]int32{}
	var why string
	stable := 0
	admin := n.admin
	again := time.Now().Add(5 * time.Second)
	for limit := time.Now().Add(patience); stable < 3; time.Sleep(150 * time.Millisecond) {
		if time.Now().After(limit) {
			return fmt.Errorf("the replicas are not in sync: %s", why)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		found, err := admin.ListTopics(ctx, topics.plain, topics.txn)
		if err == nil {
			err = found.Error()
		}
		var offsets kadm.ListedOffsets
		if err == nil {
			if offsets, err = admin.ListEndOffsets(ctx, topics.plain, topics.txn); err == nil {
				err = offsets.Error()
			}
		}
		cancel()
		if err != nil {
			why, stable = err.Error(), 0
			continue
		}
		same := true
		for _, log := range topics.logs() {
			p := found[log.Topic].Partitions[log.Partition]
			if len(p.Replicas) != replicas && time.Now().After(again) {
				// A reassignment that began before the one to two replicas had ended may have changed nothing.
				again = time.Now().Add(5 * time.Second)
				if err := n.assign(replicas); err != nil {
					return err
				}
			}
			if len(p.Replicas) != replicas || len(p.ISR) != replicas {
				why, same = fmt.Sprintf("%s has replicas %v, in sync %v", log, p.Replicas, p.ISR), false
			}
			at, _ := offsets.Lookup(log.Topic, log.Partition)
			if before, ok := ends[log]; !ok || before != at.Offset {
				same = false
			}
			ends[log], leaders[log] = at.Offset, p.Leader
		}
		if stable++; !same {
			stable = 0
		}
	}
	r.h.Replicas = map[TopicPartition]map[int32][]Entry{}
	r.h.Committed = map[TopicPartition][]Seen{}
	for _, log := range topics.logs() {
		r.h.Replicas[log] = map[int32][]Entry{}
		for _, b := range c.brokers {
			entries, err := replica(cl, r, ids, b.id, log, ends[log])
			if err != nil {
				return err
			}
			r.h.Replicas[log][b.id] = entries
		}
		seen, err := committedRecords(cl, r, ids, leaders[log], log, ends[log])
		if err != nil {
			return err
		}
		r.h.Committed[log] = seen
	}
	return nil
}
