package main

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// TopicPartition names a log.
type TopicPartition struct {
	Topic     string
	Partition int32
}

func (tp TopicPartition) String() string { return fmt.Sprintf("%s-%d", tp.Topic, tp.Partition) }

// Outcome is what a client knows of an append or of the end of a transaction.
type Outcome int

const (
	// Unknown: it failed or timed out, and may have taken effect or not.
	Unknown Outcome = iota
	// Done: it was acknowledged.
	Done
)

// forever is the return time of what never returned.
const forever = int64(1) << 62

// Append is one record that a client has sent. Times are nanoseconds of the machine's monotonic clock.
type Append struct {
	Log          TopicPartition
	ID           string
	Txn          string // empty outside of transactions
	Call, Return int64
	Outcome      Outcome
	Offset       int64 // where it was acknowledged
}

// End is the end of a transaction.
type End struct {
	Txn     string
	Commit  bool
	Call    int64
	Outcome Outcome
}

// Seen is a record at an offset.
type Seen struct {
	Offset int64
	ID     string
}

// Read is what one fetch has returned.
type Read struct {
	Log          TopicPartition
	Asked        int64 // from which offset on; unasked where a client does not say
	Committed    bool  // by read_committed
	Call, Return int64
	Records      []Seen
}

// unasked is the offset of a read that begins with its first record.
const unasked = int64(-1)

// Entry is what a replica has at an offset when all is over.
type Entry struct {
	Offset   int64
	ID       string // empty for a control record
	Control  bool
	Commit   bool // of a control record
	Producer int64
}

// History is all that the clients of one run have done, and what was there afterwards.
type History struct {
	Appends []Append
	Ends    []End
	Reads   []Read
	// Damaged names records whose bytes were not those that were sent.
	Damaged []string
	// Replicas has for each log what each replica holds, from its first offset to its last.
	Replicas map[TopicPartition]map[int32][]Entry
	// Committed has for each log what read_committed returns.
	Committed map[TopicPartition][]Seen
}

// Operations counts records sent, fetches that returned records, and ends of transactions.
func (h *History) Operations() int { return len(h.Appends) + len(h.Reads) + len(h.Ends) }

// Verdict lists by kind what was wrong; empty when nothing was.
type Verdict struct {
	Problems map[string][]string
}

func (v *Verdict) add(kind, format string, args ...any) {
	v.Problems[kind] = append(v.Problems[kind], fmt.Sprintf(format, args...))
}

// Good is whether nothing was wrong.
func (v *Verdict) Good() bool { return len(v.Problems) == 0 }

func (v *Verdict) String() string {
	if v.Good() {
		return "good"
	}
	var kinds []string
	for kind, all := range v.Problems {
		kinds = append(kinds, fmt.Sprintf("%s: %d (%s)", kind, len(all), all[0]))
	}
	sort.Strings(kinds)
	return strings.Join(kinds, "; ")
}

// Judge compares a history with what a replicated log promises.
func Judge(h *History) *Verdict {
	v := &Verdict{Problems: map[string][]string{}}
	for _, d := range h.Damaged {
		v.add("damaged", "%s", d)
	}
	sent := map[string]*Append{}
	for i := range h.Appends {
		sent[h.Appends[i].ID] = &h.Appends[i]
	}
	logs := map[TopicPartition][]Entry{}
	for log, replicas := range h.Replicas {
		logs[log] = sameReplicas(v, log, replicas)
	}
	at := map[TopicPartition]map[int64]Entry{}
	place := map[string]Entry{}
	for log, entries := range logs {
		at[log] = map[int64]Entry{}
		for i, e := range entries {
			if e.Offset != int64(i) {
				v.add("gap", "%s has offset %d where %d is expected", log, e.Offset, i)
			}
			at[log][e.Offset] = e
			if e.Control {
				continue
			}
			a, ok := sent[e.ID]
			switch {
			case !ok:
				v.add("phantom", "%s@%d holds %q, which nobody sent", log, e.Offset, e.ID)
			case a.Log != log:
				v.add("phantom", "%s@%d holds %q, which was sent to %s", log, e.Offset, e.ID, a.Log)
			}
			if first, twice := place[e.ID]; twice {
				v.add("duplicate", "%s is at %d and at %d of %s", e.ID, first.Offset, e.Offset, log)
			} else {
				place[e.ID] = e
			}
		}
	}
	outcome := transactions(v, h, logs, sent)
	for i := range h.Appends {
		a := &h.Appends[i]
		if a.Outcome != Done {
			continue
		}
		switch e, ok := at[a.Log][a.Offset]; {
		case !ok:
			v.add("lost", "%s was acknowledged at %s@%d, where the log has ended", a.ID, a.Log, a.Offset)
		case e.ID != a.ID:
			v.add("lost", "%s was acknowledged at %s@%d, where %q is", a.ID, a.Log, a.Offset, e.ID)
		}
	}
	for i := range h.Reads {
		r := &h.Reads[i]
		for j, s := range r.Records {
			if j > 0 && s.Offset <= r.Records[j-1].Offset {
				v.add("reordered", "a fetch of %s returned offset %d behind %d", r.Log, s.Offset, r.Records[j-1].Offset)
			}
			if e, ok := at[r.Log][s.Offset]; !ok || e.ID != s.ID {
				v.add("unread", "%q was read at %s@%d, where %q is at the end", s.ID, r.Log, s.Offset, e.ID)
			}
			if a, ok := sent[s.ID]; r.Committed && ok && a.Txn != "" && outcome[a.Txn] == aborted {
				v.add("aborted", "read_committed returned %s of the aborted transaction %s", s.ID, a.Txn)
			}
		}
		skipped(v, r, at[r.Log], sent, outcome)
	}
	committedView(v, h, logs, sent, outcome)
	for log, entries := range logs {
		if !linearizable(h, log, entries, sent, place) {
			v.add("order", "%s has no order that fits the times of its operations", log)
		}
	}
	return v
}

// skipped says what a fetch has left out between the offset that it was asked for and its last record. It leaves out
// control records, and with read_committed those of aborted transactions.
func skipped(v *Verdict, r *Read, at map[int64]Entry, sent map[string]*Append, outcome map[string]fate) {
	if len(r.Records) == 0 {
		return
	}
	next := r.Asked
	if next == unasked {
		next = r.Records[0].Offset
	}
	for _, s := range r.Records {
		for ; next < s.Offset; next++ {
			e, ok := at[next]
			if !ok || e.Control {
				continue
			}
			if a, known := sent[e.ID]; r.Committed && known && a.Txn != "" && outcome[a.Txn] == aborted {
				continue
			}
			v.add("skipped", "a fetch of %s from %d returned offset %d without %q at %d", r.Log, r.Asked, s.Offset, e.ID, next)
		}
		next = s.Offset + 1
	}
}

// sameReplicas returns the longest of the replicas' logs, of which all others have to be equal.
func sameReplicas(v *Verdict, log TopicPartition, replicas map[int32][]Entry) []Entry {
	var ids []int32
	for id := range replicas {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(i, j int) bool { return ids[i] < ids[j] })
	var longest []Entry
	for _, id := range ids {
		if len(replicas[id]) > len(longest) {
			longest = replicas[id]
		}
	}
	for _, id := range ids {
		mine := replicas[id]
		if len(mine) != len(longest) {
			v.add("replicas", "%s has %d entries on broker %d and %d on another", log, len(mine), id, len(longest))
		}
		for i := range mine {
			if mine[i] != longest[i] {
				v.add("replicas", "%s differs on broker %d: %+v, elsewhere %+v", log, id, mine[i], longest[i])
				break
			}
		}
	}
	return longest
}

type fate int

const (
	open fate = iota
	committed
	aborted
)

// transactions says how each transaction has ended by the markers in the logs, which must agree with each other and
// with what the clients know.
func transactions(v *Verdict, h *History, logs map[TopicPartition][]Entry, sent map[string]*Append) map[string]fate {
	outcome := map[string]fate{}
	for log, entries := range logs {
		pending := map[int64]map[string]bool{}
		for _, e := range entries {
			if !e.Control {
				if a, ok := sent[e.ID]; ok && a.Txn != "" {
					if pending[e.Producer] == nil {
						pending[e.Producer] = map[string]bool{}
					}
					pending[e.Producer][a.Txn] = true
				}
				continue
			}
			mark := aborted
			if e.Commit {
				mark = committed
			}
			for txn := range pending[e.Producer] {
				if before := outcome[txn]; before != open && before != mark {
					v.add("torn", "transaction %s is committed in one place and aborted in another (%s@%d)", txn, log, e.Offset)
				}
				outcome[txn] = mark
			}
			delete(pending, e.Producer)
		}
		for _, open := range pending {
			for txn := range open {
				v.add("hanging", "transaction %s has no marker in %s", txn, log)
			}
		}
	}
	written := map[string]int{}
	there := map[string]int{}
	for _, entries := range logs {
		for _, e := range entries {
			if a, ok := sent[e.ID]; ok && !e.Control && a.Txn != "" {
				there[a.Txn]++
			}
		}
	}
	for i := range h.Appends {
		if h.Appends[i].Txn != "" {
			written[h.Appends[i].Txn]++
		}
	}
	for _, e := range h.Ends {
		if e.Outcome != Done {
			continue
		}
		switch {
		case e.Commit && (outcome[e.Txn] == aborted || there[e.Txn] < written[e.Txn]):
			v.add("uncommitted", "the commit of %s was acknowledged; %d of its %d records are there", e.Txn, there[e.Txn], written[e.Txn])
		case !e.Commit && outcome[e.Txn] == committed:
			v.add("unaborted", "the abort of %s was acknowledged, and it is committed", e.Txn)
		}
	}
	return outcome
}

// committedView compares what read_committed returns with what the transactions' outcomes say.
func committedView(v *Verdict, h *History, logs map[TopicPartition][]Entry, sent map[string]*Append, outcome map[string]fate) {
	for log, view := range h.Committed {
		var expected []Seen
		for _, e := range logs[log] {
			if a, ok := sent[e.ID]; !e.Control && ok && (a.Txn == "" || outcome[a.Txn] == committed) {
				expected = append(expected, Seen{e.Offset, e.ID})
			}
		}
		for i := 0; i < len(expected) || i < len(view); i++ {
			if i >= len(view) || i >= len(expected) || view[i] != expected[i] {
				v.add("committed", "read_committed of %s returns %d records, %d are expected; the first difference is number %d",
					log, len(view), len(expected), i)
				break
			}
		}
	}
}

// step is an operation on one log: an append at an offset, or a read of records below an offset.
type step struct {
	append bool
	offset int64 // of the append, or the highest one that was read
	seen   []Seen
	id     string
}

// linearizable asks porcupine whether the operations on a log have an order that fits their times: an append takes the
// next offset, a read returns what has been appended at its offsets. The state is the log's end; what is at an offset is
// said by the appends.
func linearizable(h *History, log TopicPartition, entries []Entry, sent map[string]*Append, place map[string]Entry) bool {
	ids := make([]string, len(entries))
	marker := make([]int64, len(entries)) // of its transaction, by offset
	next := map[int64]int64{}
	for i := len(entries) - 1; i >= 0; i-- {
		e := entries[i]
		if e.Offset != int64(i) {
			return false
		}
		ids[i] = e.ID
		if e.Control {
			next[e.Producer] = e.Offset
		} else if a, ok := sent[e.ID]; ok && a.Txn != "" {
			marker[i] = next[e.Producer]
		}
	}
	first := forever
	var operations []porcupine.Operation
	add := func(s step, call, ret int64) {
		first = min(first, call)
		operations = append(operations, porcupine.Operation{Input: s, Call: call, Return: ret})
	}
	for i := range h.Appends {
		a := &h.Appends[i]
		if a.Log != log {
			continue
		}
		offset := a.Offset
		if a.Outcome != Done {
			e, there := place[a.ID]
			if !there {
				continue
			}
			offset = e.Offset
		}
		ret := a.Return
		if a.Outcome != Done {
			ret = forever
		}
		add(step{append: true, offset: offset, id: a.ID}, a.Call, ret)
	}
	for i := range h.Reads {
		r := &h.Reads[i]
		if r.Log != log || len(r.Records) == 0 {
			continue
		}
		high := r.Records[len(r.Records)-1].Offset
		if r.Committed {
			for _, s := range r.Records {
				if s.Offset < int64(len(marker)) {
					high = max(high, marker[s.Offset])
				}
			}
		}
		add(step{offset: high, seen: r.Records}, r.Call, r.Return)
	}
	// Markers, which the brokers write: a commit's after the client has asked for it, an abort's at any time.
	asked := map[string]int64{}
	for _, e := range h.Ends {
		asked[e.Txn] = e.Call
	}
	txn := map[int64]string{}
	for _, e := range entries {
		if !e.Control {
			if a, ok := sent[e.ID]; ok {
				txn[e.Producer] = a.Txn
			}
			continue
		}
		call := first
		if e.Commit {
			call = max(call, asked[txn[e.Producer]])
		}
		add(step{append: true, offset: e.Offset}, call, forever)
	}
	model := porcupine.Model{
		Init: func() any { return int64(0) },
		Step: func(state, input, _ any) (bool, any) {
			end, s := state.(int64), input.(step)
			if s.append {
				return s.offset == end && end < int64(len(ids)) && ids[end] == s.id, end + 1
			}
			if s.offset >= end {
				return false, end
			}
			for _, r := range s.seen {
				if ids[r.Offset] != r.ID {
					return false, end
				}
			}
			return true, end
		},
		Equal: func(a, b any) bool { return a.(int64) == b.(int64) },
	}
	return porcupine.CheckOperationsTimeout(model, operations, 2*time.Minute) == porcupine.Ok
}
