package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"golang.org/x/sys/unix"
)

const (
	plainPartitions = 3
	txnPartitions   = 2
)

// now is the monotonic clock that Java's System.nanoTime() reads, too.
func now() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// value is the record of an identifier; Client.java makes the same.
func value(id string) []byte {
	hash := uint32(0x811c9dc5)
	for i := range len(id) {
		hash = (hash ^ uint32(id[i])) * 0x01000193
	}
	v := make([]byte, len(id)+1+int(hash%4000))
	copy(v, id+":")
	x := hash
	for i := len(id) + 1; i < len(v); i++ {
		x = x*1103515245 + 12345
		v[i] = byte(x >> 24)
	}
	return v
}

// Recorder collects what clients do.
type Recorder struct {
	sync.Mutex
	h           History
	faults      []string
	lateIndexes int
	truncations int // fetches that met a truncation
}

func (r *Recorder) truncating() {
	r.Lock()
	defer r.Unlock()
	r.truncations++
}

func (r *Recorder) append(a Append) {
	r.Lock()
	defer r.Unlock()
	r.h.Appends = append(r.h.Appends, a)
}

func (r *Recorder) end(e End) {
	r.Lock()
	defer r.Unlock()
	r.h.Ends = append(r.h.Ends, e)
}

func (r *Recorder) read(read Read) {
	if len(read.Records) == 0 {
		return
	}
	r.Lock()
	defer r.Unlock()
	r.h.Reads = append(r.h.Reads, read)
}

func (r *Recorder) operations() int {
	r.Lock()
	defer r.Unlock()
	return r.h.Operations()
}

// identify returns a record's identifier, and notes it where the rest of its bytes is not what was sent.
func (r *Recorder) identify(v []byte, where string) string {
	id, _, _ := strings.Cut(string(v[:min(len(v), 80)]), ":")
	if !bytes.Equal(v, value(id)) {
		r.damaged(fmt.Sprintf("%q at %s", id, where))
	}
	return id
}

func (r *Recorder) damaged(what string) {
	r.Lock()
	defer r.Unlock()
	r.h.Damaged = append(r.h.Damaged, what)
}

func (r *Recorder) fault(format string, args ...any) {
	r.Lock()
	defer r.Unlock()
	r.faults = append(r.faults, fmt.Sprintf(format, args...))
}

// Topics are a history's own: one for records outside of transactions, one for transactions.
type Topics struct{ plain, txn string }

func (t Topics) logs() []TopicPartition {
	var all []TopicPartition
	for i := range int32(plainPartitions) {
		all = append(all, TopicPartition{t.plain, i})
	}
	for i := range int32(txnPartitions) {
		all = append(all, TopicPartition{t.txn, i})
	}
	return all
}

func client(c *Cluster, more ...kgo.Opt) (*kgo.Client, error) {
	return kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(c.bootstrap()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		// One at a time: a broker that starts again knows only the last batch of a producer.
		kgo.MaxProduceRequestsInflightPerBroker(1), kgo.ProducerLinger(2 * time.Millisecond),
		kgo.RequestTimeoutOverhead(5 * time.Second), kgo.RetryBackoffFn(func(int) time.Duration { return 200 * time.Millisecond }),
		kgo.MetadataMinAge(200 * time.Millisecond), kgo.MetadataMaxAge(5 * time.Second)}, more...)...)
}

// produce sends records outside of transactions, idempotently; with a time-out some of them fail, and may be there.
func produce(c *Cluster, r *Recorder, topic, name string, seed int64, records int, timeout time.Duration) error {
	cl, err := client(c, kgo.RecordDeliveryTimeout(timeout), kgo.ProduceRequestTimeout(5*time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	random := rand.New(rand.NewSource(seed))
	flying := make(chan struct{}, 40)
	for i := range records {
		flying <- struct{}{}
		log := TopicPartition{topic, int32(random.Intn(plainPartitions))}
		send(cl, r, log, fmt.Sprintf("%s%d-%d", name, seed, i), "", func() { <-flying })
		time.Sleep(2 * time.Millisecond)
	}
	return cl.Flush(context.Background())
}

func send(cl *kgo.Client, r *Recorder, log TopicPartition, id, txn string, then func()) {
	call := now()
	cl.Produce(context.Background(), &kgo.Record{Topic: log.Topic, Partition: log.Partition, Value: value(id)},
		func(at *kgo.Record, err error) {
			a := Append{Log: log, ID: id, Txn: txn, Call: call, Return: now()}
			if err == nil {
				a.Outcome, a.Offset = Done, at.Offset
			}
			r.append(a)
			then()
		})
}

// transact runs transactions one after the other, and ends what is open in the end.
func transact(c *Cluster, r *Recorder, topic string, seed int64, transactions int) error {
	random := rand.New(rand.NewSource(seed))
	name := fmt.Sprintf("go-%d", seed)
	open := func() (*kgo.Client, error) {
		return client(c, kgo.TransactionalID(name), kgo.TransactionTimeout(time.Minute), kgo.RecordDeliveryTimeout(2*time.Minute),
			kgo.ProduceRequestTimeout(30*time.Second))
	}
	var cl *kgo.Client
	for i := range transactions {
		id := fmt.Sprintf("%s-%d", name, i)
		var err error
		if cl == nil {
			if cl, err = open(); err != nil {
				return err
			}
		}
		if err = cl.BeginTransaction(); err != nil {
			cl.Close()
			cl = nil
			continue
		}
		var mu sync.Mutex
		missing := 0
		for j := range 1 + random.Intn(6) {
			partition := int32(0)
			if j > 0 {
				partition = int32(random.Intn(txnPartitions))
			}
			mu.Lock()
			missing++
			mu.Unlock()
			send(cl, r, TopicPartition{topic, partition}, fmt.Sprintf("%s.%d", id, j), id, func() {})
		}
		failed := cl.Flush(context.Background())
		r.Lock()
		done := 0
		for k := len(r.h.Appends) - 1; k >= 0 && done < missing && k > len(r.h.Appends)-5000; k-- {
			if r.h.Appends[k].Txn == id {
				done++
				if r.h.Appends[k].Outcome != Done {
					failed = fmt.Errorf("%s is unknown", r.h.Appends[k].ID)
				}
			}
		}
		r.Unlock()
		commit := random.Intn(4) != 0 && failed == nil
		e := End{Txn: id, Commit: commit, Call: now()}
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
		err = cl.EndTransaction(ctx, kgo.TransactionEndTry(commit))
		cancel()
		if err == nil {
			e.Outcome = Done
		}
		r.end(e)
		if err != nil || failed != nil {
			cl.Close()
			cl = nil
		}
		time.Sleep(5 * time.Millisecond)
	}
	if cl != nil {
		cl.Close()
	}
	return endOpen(c, open)
}

// endOpen takes the transactional id again, which ends what an earlier producer has left open.
func endOpen(c *Cluster, open func() (*kgo.Client, error)) error {
	cl, err := open()
	if err != nil {
		return err
	}
	defer cl.Close()
	for end := time.Now().Add(patience); ; time.Sleep(200 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		_, _, err = cl.ProducerID(ctx)
		cancel()
		if err == nil || time.Now().After(end) {
			return err
		}
	}
}

// fetch asks one broker for what it has of a log from an offset on. Followers answer, too.
func fetch(ctx context.Context, cl *kgo.Client, ids map[string][16]byte, broker int32, log TopicPartition, offset int64, committed bool,
	bytes int32) (kgo.FetchPartition, *kmsg.FetchResponseTopicPartition, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes, req.SessionEpoch = 50, 1, bytes, -1
	options := kgo.ProcessFetchPartitionOpts{Topic: log.Topic, Partition: log.Partition, Offset: offset, KeepControlRecords: !committed}
	if committed {
		req.IsolationLevel = 1
		options.IsolationLevel = kgo.ReadCommitted()
	}
	t := kmsg.NewFetchRequestTopic()
	t.Topic, t.TopicID = log.Topic, ids[log.Topic]
	p := kmsg.NewFetchRequestTopicPartition()
	p.Partition, p.FetchOffset, p.PartitionMaxBytes, p.CurrentLeaderEpoch = log.Partition, offset, bytes, -1
	t.Partitions = append(t.Partitions, p)
	req.Topics = append(req.Topics, t)
	answer, err := cl.Broker(int(broker)).Request(ctx, req)
	if err != nil {
		return kgo.FetchPartition{}, nil, err
	}
	all := answer.(*kmsg.FetchResponse)
	if err := kerr.ErrorForCode(all.ErrorCode); err != nil {
		return kgo.FetchPartition{}, nil, err
	}
	if len(all.Topics) != 1 || len(all.Topics[0].Partitions) != 1 {
		return kgo.FetchPartition{}, nil, fmt.Errorf("an answer without %s", log)
	}
	raw := &all.Topics[0].Partitions[0]
	got, _ := kgo.ProcessFetchPartition(options, raw, kgo.DefaultDecompressor(), nil)
	return got, raw, got.Err
}

// readAnywhere fetches at random offsets of random logs from random replicas until told to end.
func readAnywhere(ctx context.Context, c *Cluster, r *Recorder, ids map[string][16]byte, topics Topics, seed int64) error {
	cl, err := client(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	random := rand.New(rand.NewSource(seed))
	logs := topics.logs()
	high := map[TopicPartition]int64{}
	for ctx.Err() == nil {
		log := logs[random.Intn(len(logs))]
		offset := high[log]
		if random.Intn(2) == 0 {
			offset = random.Int63n(offset + 1)
		}
		committed := random.Intn(2) == 0
		attempt, cancel := context.WithTimeout(ctx, 3*time.Second)
		call := now()
		broker := 1 + int32(random.Intn(replicas))
		got, raw, err := fetch(attempt, cl, ids, broker, log, offset, committed, 64<<10)
		read := Read{Log: log, Asked: offset, Committed: committed, Call: call, Return: now()}
		cancel()
		if err == nil {
			for _, record := range got.Records {
				if record.Attrs.IsControl() {
					continue
				}
				read.Records = append(read.Records, Seen{record.Offset, r.identify(record.Value, fmt.Sprintf("%s@%d", log, record.Offset))})
				high[log] = max(high[log], record.Offset+1)
			}
			r.read(read)
		} else if raw != nil && raw.ErrorCode == kerr.CorruptMessage.Code && truncates(ctx, cl, ids, broker, log, offset) {
			r.truncating()
		} else if raw != nil && raw.ErrorCode == 0 {
			// A checksum, or bytes that are no batch.
			r.damaged(fmt.Sprintf("%s from %d on broker %d: %v", log, offset, broker, err))
		}
		time.Sleep(4 * time.Millisecond)
	}
	return nil
}

// truncates is whether a broker has called a batch corrupt for a moment only: its replica was cut below the batch meanwhile, and
// Kafka knows a file's new size only after that.
func truncates(ctx context.Context, cl *kgo.Client, ids map[string][16]byte, broker int32, log TopicPartition, offset int64) bool {
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(200 * time.Millisecond) {
		attempt, cancel := context.WithTimeout(ctx, 3*time.Second)
		_, raw, _ := fetch(attempt, cl, ids, broker, log, offset, false, 64<<10)
		cancel()
		if raw != nil && raw.ErrorCode != kerr.CorruptMessage.Code {
			return true
		}
	}
	return ctx.Err() != nil // what is left of it, the comparison of the replicas finds
}

// replica reads what one broker has of a log, up to an end.
func replica(cl *kgo.Client, r *Recorder, ids map[string][16]byte, broker int32, log TopicPartition, end int64) ([]Entry, error) {
	var all []Entry
	var last error
	limit := time.Now().Add(time.Minute)
	for offset := int64(0); offset < end; {
		if time.Now().After(limit) {
			return all, fmt.Errorf("broker %d shows %s up to %d, not %d: %v", broker, log, offset, end, last)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		got, _, err := fetch(ctx, cl, ids, broker, log, offset, false, 4<<20)
		cancel()
		if err != nil || len(got.Records) == 0 {
			last = err
			if err != nil && strings.Contains(strings.ToLower(err.Error()), "crc") {
				r.damaged(fmt.Sprintf("%s from %d on broker %d: %v", log, offset, broker, err))
				return all, nil
			}
			time.Sleep(50 * time.Millisecond)
			continue
		}
		for _, record := range got.Records {
			e := Entry{Offset: record.Offset, Producer: record.ProducerID}
			if record.Attrs.IsControl() {
				e.Control, e.Commit = true, len(record.Key) >= 4 && record.Key[3] == 1
			} else {
				e.ID = r.identify(record.Value, fmt.Sprintf("%s@%d on broker %d", log, record.Offset, broker))
			}
			all = append(all, e)
			offset = record.Offset + 1
		}
	}
	return all, nil
}

// committedRecords reads a log as read_committed does.
func committedRecords(cl *kgo.Client, r *Recorder, ids map[string][16]byte, leader int32, log TopicPartition, end int64) ([]Seen, error) {
	var all []Seen
	decompressor := kgo.DefaultDecompressor()
	limit := time.Now().Add(time.Minute)
	for offset := int64(0); offset < end; {
		if time.Now().After(limit) {
			return all, fmt.Errorf("read_committed of %s stays at %d, not %d", log, offset, end)
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		_, raw, err := fetch(ctx, cl, ids, leader, log, offset, true, 4<<20)
		cancel()
		if err != nil {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		options := kgo.ProcessFetchPartitionOpts{Topic: log.Topic, Partition: log.Partition, Offset: offset, IsolationLevel: kgo.ReadCommitted()}
		got, next := kgo.ProcessFetchPartition(options, raw, decompressor, nil)
		for _, record := range got.Records {
			all = append(all, Seen{record.Offset, r.identify(record.Value, log.String())})
		}
		if next <= offset {
			time.Sleep(50 * time.Millisecond)
			continue
		}
		offset = next
	}
	return all, nil
}

// Java is the process of the Java client.
type Java struct {
	process *exec.Cmd
	in      io.WriteCloser
	done    chan error

	mu sync.Mutex
	to *Recorder
}

func startJava(c *Cluster, source, libs string) (*Java, error) {
	j := &Java{done: make(chan error, 1)}
	j.process = exec.Command("java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData",
		"-Dlog4j2.level=OFF", "-cp", libs+"/*", source, strings.Join(c.bootstrap(), ","))
	j.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	log, err := os.Create(c.folder + "/java-client.log")
	if err != nil {
		return nil, err
	}
	j.process.Stderr = log
	out, err := j.process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if j.in, err = j.process.StdinPipe(); err != nil {
		return nil, err
	}
	if err := j.process.Start(); err != nil {
		return nil, err
	}
	go j.listen(out)
	return j, nil
}

func (j *Java) start(r *Recorder, topics Topics, seed int64, records, transactions int) error {
	j.mu.Lock()
	j.to = r
	j.mu.Unlock()
	_, err := fmt.Fprintf(j.in, "start %s %s %d %d %d\n", topics.plain, topics.txn, seed, records, transactions)
	return err
}

func (j *Java) finish() error {
	if _, err := fmt.Fprintln(j.in, "finish"); err != nil {
		return err
	}
	return <-j.done
}

func (j *Java) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		j.mu.Lock()
		r := j.to
		j.mu.Unlock()
		number := func(i int) int64 {
			n, _ := strconv.ParseInt(f[i], 10, 64)
			return n
		}
		switch {
		case len(f) == 8 && f[0] == "A":
			a := Append{Log: TopicPartition{f[1], int32(number(2))}, ID: f[3], Call: number(5), Return: number(6)}
			if f[4] != "-" {
				a.Txn = f[4]
			}
			if number(7) >= 0 {
				a.Outcome, a.Offset = Done, number(7)
			}
			r.append(a)
		case len(f) == 5 && f[0] == "E":
			e := End{Txn: f[1], Commit: f[2] == "true", Call: number(3)}
			if f[4] == "true" {
				e.Outcome = Done
			}
			r.end(e)
		case len(f) > 4 && f[0] == "R":
			read := Read{Log: TopicPartition{f[1], int32(number(2))}, Asked: unasked, Committed: true, Call: number(3), Return: number(4)}
			for _, at := range f[5:] {
				offset, id, _ := strings.Cut(at, "=")
				o, _ := strconv.ParseInt(offset, 10, 64)
				if strings.HasPrefix(id, "DAMAGED/") {
					r.damaged(fmt.Sprintf("%s at %s@%s, read by Java", id, read.Log, offset))
				}
				read.Records = append(read.Records, Seen{o, id})
			}
			r.read(read)
		case len(f) == 1 && f[0] == "DONE":
			j.done <- nil
		case len(f) > 0 && f[0] == "READER":
			r.damaged("the Java reader has ended: " + strings.Join(f[1:], " "))
		case len(f) > 0 && f[0] == "FAILED":
			r.fault("the Java client: %s", strings.Join(f[1:], " "))
		}
	}
	j.done <- fmt.Errorf("the Java client has ended")
}
