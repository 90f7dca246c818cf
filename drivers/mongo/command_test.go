package mongo

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"
	"go.mongodb.org/mongo-driver/bson/primitive"

	"insertbench/ibench"
)

// handRow is a row whose bytes can be written down.
func handRow() *ibench.Row {
	return &ibench.Row{
		Client: 0x0102030405, Number: 0x0a0b0c0d, Seconds: 1577836800, // 0x5e0be100
		CashRegisterID: 1, CustomerID: 2, ProductID: 3, Price: 4, Data: []byte("aB"),
	}
}

// unhex reads hex digits with spaces and comments after //.
func unhex(t *testing.T, text string) []byte {
	t.Helper()
	var digits strings.Builder
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// shortDocument is handRow with short names: 4 + 17 (_id) + 12 (ts) + 10 + 10
// + 10 + 10 + 13 (data: 1+5+4+3) + 1 = 87 = 0x57 bytes. 1577836800000 ms =
// 0x016f5e66e800.
const shortDocument = `
57000000
07 5f696400 5e0be100 0102030405 0b0c0d         // _id: seconds, client, 3 low bytes of the number
09 747300 00e8665e6f010000                     // ts
10 6361696400 01000000                         // caid
10 6375696400 02000000                         // cuid
10 70726f6400 03000000                         // prod
10 7072696400 04000000                         // prid
02 6461746100 03000000 614200                  // data
00`

func TestDocumentBytes(t *testing.T) {
	tm := newTemplate(ObjectID, shortNames)
	want := unhex(t, shortDocument)
	if got := tm.append(nil, handRow()); !bytes.Equal(got, want) {
		t.Errorf("got  %x\nwant %x", got, want)
	}
	if got := tm.sizeBytes(2); got != len(want) {
		t.Errorf("sizeBytes gave %d, want %d", got, len(want))
	}
}

// TestDocumentFields decodes documents with the client's own BSON package and
// compares them field by field with the row.
func TestDocumentFields(t *testing.T) {
	row := handRow()
	id := primitive.ObjectID{0x5e, 0x0b, 0xe1, 0x00, 1, 2, 3, 4, 5, 0x0b, 0x0c, 0x0d}
	date := primitive.NewDateTimeFromTime(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	for _, tt := range []struct {
		name  string
		kind  IDKind
		names fieldNames
		want  bson.D
	}{
		{"as in the original", ObjectID, longNames, bson.D{{Key: "_id", Value: id}, {Key: "dateandtime", Value: date},
			{Key: "cashregisterid", Value: int32(1)}, {Key: "customerid", Value: int32(2)}, {Key: "product", Value: int32(3)},
			{Key: "price", Value: int32(4)}, {Key: "data", Value: "aB"}}},
		{"short names, int64", Int64, shortNames, bson.D{
			// client × 2^40 + number
			{Key: "_id", Value: int64(row.Client<<40 + 0x0a0b0c0d)}, {Key: "ts", Value: date},
			{Key: "caid", Value: int32(1)}, {Key: "cuid", Value: int32(2)}, {Key: "prod", Value: int32(3)},
			{Key: "prid", Value: int32(4)}, {Key: "data", Value: "aB"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tm := newTemplate(tt.kind, tt.names)
			raw := bson.Raw(tm.append(nil, row))
			if err := raw.Validate(); err != nil {
				t.Fatal(err)
			}
			var got bson.D
			if err := bson.Unmarshal(raw, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("document (-want +got):\n%s", diff)
			}
		})
	}
}

// TestKeysAreUnique over clients and rows that share a second, and sort as
// rows of one client do.
func TestKeysAreUnique(t *testing.T) {
	for _, kind := range []IDKind{ObjectID, Int64} {
		tm := newTemplate(kind, longNames)
		seen := map[string]bool{}
		var row ibench.Row
		for client := range 3 {
			rows := ibench.NewRows(1, client, ibench.DefaultRowSpec())
			last := ""
			for i := range int64(3000) {
				rows.At(i, &row)
				id := bson.Raw(tm.append(nil, &row)).Lookup("_id").Value
				if kind == Int64 { // little-endian: turn it over to compare
					id = bytes.Clone(id)
					for a, b := 0, len(id)-1; a < b; a, b = a+1, b-1 {
						id[a], id[b] = id[b], id[a]
					}
				}
				if seen[string(id)] || string(id) <= last {
					t.Fatalf("%s of client %d, row %d: %x is not new or not above %x", kind, client, i, id, last)
				}
				seen[string(id)], last = true, string(id)
			}
		}
	}
}

func TestCommandBytes(t *testing.T) {
	c, err := newCommand(commandHead{table: "pi1", concern: writeConcern{w: int32(1)}}, newTemplate(ObjectID, shortNames))
	if err != nil {
		t.Fatal(err)
	}
	c.add(handRow())
	// insert is 1+7+4+4 = 16 bytes, ordered 1+8+1 = 10, documents' header 1+10 = 11.
	// writeConcern {w: 1} is 4+1+2+4+1 = 12 = 0x0c bytes, its header 14.
	// The array is 4+3+87+1 = 95 = 0x5f; the whole 4+16+10+26+11+95+1 = 163 = 0xa3.
	want := unhex(t, `a3000000
02 696e7365727400 04000000 70693100            // insert: "pi1"
08 6f72646572656400 01                         // ordered: true
03 7772697465436f6e6365726e00 0c000000 10 7700 01000000 00
04 646f63756d656e747300 5f000000
03 3000 `+shortDocument+`
00 00`)
	for range 2 { // it can be finished again, as for a retry
		if got := c.finish(0); !bytes.Equal(got, want) {
			t.Errorf("got  %x\nwant %x", got, want)
		}
	}
	if got := c.sizeBytes(1, 2); got != len(want) {
		t.Errorf("sizeBytes gave %d, want %d", got, len(want))
	}
}

// TestCommandSize: the size foretold is the size built, past the places where
// document numbers get a digit more.
func TestCommandSize(t *testing.T) {
	for _, rows := range []int{1, 9, 10, 11, 99, 100, 101, 1000, 1001, 12345} {
		c, err := newCommand(commandHead{table: "pi1", inTransaction: true, readConcern: "snapshot"}, newTemplate(Int64, longNames))
		if err != nil {
			t.Fatal(err)
		}
		for range rows {
			c.add(handRow())
		}
		raw := bson.Raw(c.finish(7))
		if got := c.sizeBytes(rows, 2); got != len(raw) {
			t.Errorf("%d rows: sizeBytes gave %d, built %d", rows, got, len(raw))
		}
		if err := raw.Validate(); err != nil {
			t.Errorf("%d rows: %v", rows, err)
		}
	}
}

// TestAppendAllocates nothing once the buffer has grown.
func TestAppendAllocates(t *testing.T) {
	c, err := newCommand(commandHead{table: "pi1"}, newTemplate(ObjectID, longNames))
	if err != nil {
		t.Fatal(err)
	}
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	build := func() {
		c.reset()
		for i := range int64(1000) {
			rows.At(i, &row)
			c.add(&row)
		}
		c.finish(0)
	}
	build()
	if n := testing.AllocsPerRun(20, build); n != 0 {
		t.Errorf("%v allocations per command of 1,000 rows, want none", n)
	}
}

func FuzzDocument(f *testing.F) {
	f.Add(0, int64(0), int64(0), int32(0), []byte(nil))
	f.Add(1<<22, int64(1)<<40-1, int64(1)<<32-1, int32(1)<<30, []byte("abc+/"))
	f.Fuzz(func(t *testing.T, client int, number, seconds int64, value int32, data []byte) {
		row := &ibench.Row{Client: client, Number: number, Seconds: seconds, CashRegisterID: value, CustomerID: value, ProductID: value, Price: value, Data: data}
		for _, kind := range []IDKind{ObjectID, Int64} {
			tm := newTemplate(kind, longNames)
			raw := bson.Raw(tm.append(nil, row))
			if err := raw.Validate(); err != nil {
				t.Fatal(err)
			}
			if got, ok := raw.Lookup("data").StringValueOK(); !ok || got != string(data) {
				t.Fatalf("data is %q, want %q", got, data)
			}
			if got, ok := raw.Lookup("product").Int32OK(); !ok || got != value {
				t.Fatalf("product is %d, want %d", got, value)
			}
		}
	})
}

// FuzzReply: whatever a server answers is read without a panic, and a count
// is only taken for a number.
func FuzzReply(f *testing.F) {
	for _, d := range []bson.D{
		{{Key: "n", Value: int32(5)}, {Key: "ok", Value: 1.0}},
		{{Key: "n", Value: "5"}, {Key: "storageSize", Value: 1e300}, {Key: "indexSize", Value: int64(1)}},
		{{Key: "cursor", Value: bson.D{{Key: "firstBatch", Value: bson.A{bson.D{{Key: "rows", Value: 0.5}}}}}}},
		{{Key: "isWritablePrimary", Value: true}, {Key: "hosts", Value: bson.A{"a", "b"}}, {Key: "ferretdb", Value: bson.D{}}},
	} {
		raw, err := bson.Marshal(d)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		doc := bson.Raw(raw)
		if len(raw) < 5 || binary.LittleEndian.Uint32(raw) != uint32(len(raw)) || doc.Validate() != nil {
			return // the client refuses such a reply before we see it
		}
		acknowledged(doc)
		_, _ = parseHello(doc)
		_, _ = sizeOfDatabase(doc)
		_, _ = firstBatch(doc)
		_ = foreignFields(doc)
		_ = text(doc, "a", "b")
		var d bson.D
		if bson.Unmarshal(doc, &d) == nil {
			hideSecrets(d)
		}
	})
}
