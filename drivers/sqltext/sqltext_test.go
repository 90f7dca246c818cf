package sqltext

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"insertbench/ibench"
)

func TestText(t *testing.T) {
	s := NewInsert("pi7")
	// 1577836800 is 2020-01-01 00:00:00 UTC; 1582934399 is 59 days later less
	// one second: 31 days of January, 28 of February, 23:59:59 on the 28th.
	rows := []ibench.Row{
		{Seconds: 1577836800, CashRegisterID: 0, CustomerID: 99999, ProductID: 1234, Price: 499, Data: []byte("aaaaX+/9")},
		{Seconds: 1577836800, CashRegisterID: 1, CustomerID: 2, ProductID: 3, Price: 4},
		{Seconds: 1577836800 + 59*86400 - 1, CashRegisterID: 2147483647, CustomerID: -2147483648, ProductID: 3, Price: 4, Data: []byte("a")},
		{Seconds: 1577836800 + 59*86400, Data: []byte("leap")},
	}
	const head = "INSERT INTO pi7 (dateandtime,cashregisterid,customerid,productid,price,data) VALUES "
	texts := []string{
		"('2020-01-01 00:00:00',0,99999,1234,499,'aaaaX+/9')",
		"('2020-01-01 00:00:00',1,2,3,4,'')",
		"('2020-02-28 23:59:59',2147483647,-2147483648,3,4,'a')",
		"('2020-02-29 00:00:00',0,0,0,0,'leap')",
	}
	// Twice, since the second statement reuses the buffer of the first.
	for range 2 {
		for n := range rows {
			s.Append(&rows[n])
			got, err := s.Text()
			if want := head + strings.Join(texts[:n+1], ","); err != nil || got != want {
				t.Errorf("%d rows: got %q, error %v, want %q", n+1, got, err, want)
			}
		}
		if s.Rows() != len(rows) {
			t.Errorf("Rows is %d, want %d", s.Rows(), len(rows))
		}
		s.Reset()
		if s.Rows() != 0 {
			t.Errorf("Rows is %d after Reset, want 0", s.Rows())
		}
	}
}

func TestUnsafeDataIsRefused(t *testing.T) {
	for _, data := range []string{"a'b", `a\b`, "a\x00b", "'"} {
		s := NewInsert("pi1")
		s.Append(&ibench.Row{Data: []byte("good")})
		s.Append(&ibench.Row{Client: 2, Number: 5, Data: []byte(data)})
		if _, err := s.Text(); !errors.Is(err, ErrUnsafeData) || !strings.Contains(err.Error(), "row 5 of client 2") {
			t.Errorf("data %q: got error %v, want one that names row 5 of client 2", data, err)
		}
		s.Reset()
		s.Append(&ibench.Row{Data: []byte("good")})
		if _, err := s.Text(); err != nil {
			t.Errorf("after Reset: %v", err)
		}
	}
}

// The bound is reached by the widest values and passed by none.
func TestMaxBytes(t *testing.T) {
	const rows, dataBytes = 50, 40
	widest := ibench.Row{CashRegisterID: -2147483648, CustomerID: -2147483648, ProductID: -2147483648, Price: -2147483648, Data: bytes.Repeat([]byte("x"), dataBytes)}
	s := NewInsert("pi123")
	for range rows {
		s.Append(&widest)
	}
	text, err := s.Text()
	if err != nil {
		t.Fatal(err)
	}
	// The bound counts a comma after the last row, which isn't written.
	if got, want := MaxBytes("pi123", rows, dataBytes), int64(len(text))+1; got != want {
		t.Errorf("MaxBytes is %d, want %d for the widest statement of %d bytes", got, want, len(text))
	}
}

func TestNoAllocations(t *testing.T) {
	const rowsPerCommit = 100
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	s := NewInsert("pi1")
	var next int64
	statement := func() {
		s.Reset()
		for range rowsPerCommit {
			rows.At(next, &row)
			s.Append(&row)
			next++
		}
	}
	statement()
	if got := testing.AllocsPerRun(100, statement); got != 0 {
		t.Errorf("%v allocations for each statement of %d rows, want 0", got, rowsPerCommit)
	}
}

// FuzzAppend: whatever data holds, either it is refused or it stands between
// its quotes unchanged, and nothing else does.
func FuzzAppend(f *testing.F) {
	for _, seed := range []string{"", "aaaa+/Z9", "it's", `back\slash`, "zero\x00", "'),('", "\xff\xfe", "line\nbreak"} {
		f.Add([]byte(seed), int64(1577836800), int32(7))
	}
	f.Fuzz(func(t *testing.T, data []byte, second int64, number int32) {
		second = min(max(second, 0), 253402300799) // to the end of the year 9999
		s := NewInsert("pi1")
		s.Append(&ibench.Row{Seconds: second, Price: number, Data: data})
		text, err := s.Text()
		if bytes.ContainsAny(data, "'\\\x00") {
			if err == nil {
				t.Fatalf("data %q was taken", data)
			}
			return
		}
		if err != nil || !strings.HasSuffix(text, ",'"+string(data)+"')") || strings.Count(text, "'") != 4 {
			t.Fatalf("data %q gave %q and error %v", data, text, err)
		}
	})
}
