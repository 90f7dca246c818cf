package mongo

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.mongodb.org/mongo-driver/bson"

	"insertbench/ibench"
	"insertbench/internal/server/servertest"
)

// plan is what an explain says of a command.
type plan struct {
	// indexes are those that are read, once each; nodes the kinds of its parts.
	indexes, nodes []string
	// examined is how many documents were read, for a server that tells.
	examined int64
}

// explained asks for the plan of a command.
func explained(t *testing.T, s *Server, command []byte) plan {
	t.Helper()
	raw, err := runOn(t.Context(), s.database(), bson.D{{Key: "explain", Value: bson.Raw(command)}, {Key: "verbosity", Value: "executionStats"}})
	if err != nil {
		t.Fatalf("explain of %s: %v", bson.Raw(command), err)
	}
	p := plan{examined: -1}
	p.walk(raw, false)
	slices.Sort(p.indexes)
	p.indexes = slices.Compact(p.indexes)
	if len(p.nodes) == 0 {
		t.Fatalf("explain of %s has no plan: %s", bson.Raw(command), raw)
	}
	return p
}

// walk collects from an answer, at any depth: FerretDB's has PostgreSQL's plan
// ("Node Type", "Index Name"), mongod's has stages below winningPlan.
func (p *plan) walk(doc bson.Raw, won bool) {
	elements, _ := doc.Elements()
	for _, e := range elements {
		text, _ := e.Value().StringValueOK()
		switch key := e.Key(); {
		case key == "Node Type", key == "stage" && won:
			p.nodes = append(p.nodes, text)
		case key == "Index Name", key == "indexName" && won:
			p.indexes = append(p.indexes, text)
		case key == "totalDocsExamined":
			p.examined, _ = e.Value().AsInt64OK()
		}
		if below, ok := e.Value().DocumentOK(); ok {
			p.walk(below, won || e.Key() == "winningPlan")
		} else if below, ok := e.Value().ArrayOK(); ok {
			p.walk(bson.Raw(below), won)
		}
	}
}

// TestExplain asks servers how they run the commands that querier and scanner
// send: each reads the index that it hints at and no other, ranges without
// sorting, points by _id.
//
// FerretDB looks at the documents, too, whatever the query (an index scan,
// never an index-only one), so that covering is proved there from the
// command and the index as the server lists it; mongod also says that it
// examined no document.
func TestExplain(t *testing.T) {
	t.Run("FerretDB", func(t *testing.T) { explainAll(t, servertest.DocumentDB(t), false) })
	t.Run("mongod", func(t *testing.T) { explainAll(t, servertest.Mongod(t), true) })
}

func explainAll(t *testing.T, uri string, examines bool) {
	for _, short := range []bool{false, true} {
		s, err := Open(t.Context(), Config{URI: uri, Database: "explain_mongo", ShortNames: short})
		if err != nil {
			t.Fatal(err)
		}
		fillForExplain(t, s)
		keys := listedKeys(t, s)
		for i, x := range ibench.Indexes {
			name := indexName(x)
			query, err := s.rangeCommand("pi1", i, 10)
			if err != nil {
				t.Fatal(err)
			}
			p := explained(t, s, query.command)
			if diff := cmp.Diff([]string{name}, p.indexes); diff != "" || slices.Contains(p.nodes, "Sort") || slices.Contains(p.nodes, "SORT") {
				t.Errorf("range of %s: %+v, want its index %s alone and no sort", x.Name, p, name)
			}
			if examines && p.examined != 0 {
				t.Errorf("range of %s examined %d documents, want it covered", x.Name, p.examined)
			}
			coverable(t, query.command, keys)
			if p := explained(t, s, scanOf(t, s, i)); !slices.Equal(p.indexes, []string{name}) {
				t.Errorf("scan of %s: %+v, want its index %s alone", x.Name, p, name)
			}
		}
		points, err := s.pointCommand("pi1", 3)
		if err != nil {
			t.Fatal(err)
		}
		if p := explained(t, s, points.command); !slices.Equal(p.indexes, []string{"_id_"}) {
			t.Errorf("points: %+v, want the index of _id", p)
		}
		// PostgreSQL reads a collection by itself, or by _id if the collection
		// shares its table; documents of mongod have no index to name.
		if p := explained(t, s, scanOf(t, s, ibench.PrimaryKey)); len(p.indexes) > 0 && !slices.Equal(p.indexes, []string{"_id_"}) {
			t.Errorf("scan of the documents: %+v, want no secondary index", p)
		}
		if err := s.DropTable(t.Context(), "pi1"); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func scanOf(t *testing.T, s *Server, index int) []byte {
	t.Helper()
	command, err := s.scanCommand("pi1", index)
	if err != nil {
		t.Fatal(err)
	}
	return command
}

// listedKeys are the keys of the collection's indexes by the index's name.
func listedKeys(t *testing.T, s *Server) map[string][]string {
	t.Helper()
	reply, err := runOn(t.Context(), s.database(), bson.D{{Key: "listIndexes", Value: "pi1"}})
	if err != nil {
		t.Fatal(err)
	}
	batch, err := firstBatch(reply)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for _, x := range batch {
		out[x.Lookup("name").StringValue()] = fieldsOf(t, x.Lookup("key").Document())
	}
	return out
}

// coverable: a find asks for nothing but what its index holds, in its order.
func coverable(t *testing.T, command bson.Raw, keys map[string][]string) {
	t.Helper()
	key := keys[command.Lookup("hint").StringValue()]
	projection := fieldsOf(t, command.Lookup("projection").Document())
	if command.Lookup("projection", "_id").AsInt64() != 0 {
		t.Errorf("%s has _id given back, which isn't in the index", command)
	}
	projection = slices.DeleteFunc(projection, func(field string) bool { return field == "_id" })
	if diff := cmp.Diff(key, projection); diff != "" {
		t.Errorf("key and projection of %s (-key +projection):\n%s", command, diff)
	}
	if diff := cmp.Diff(key, fieldsOf(t, command.Lookup("sort").Document())); diff != "" {
		t.Errorf("key and order of %s (-key +order):\n%s", command, diff)
	}
	if diff := cmp.Diff(key[:1], fieldsOf(t, command.Lookup("filter").Document())); diff != "" {
		t.Errorf("key and filter of %s (-key +filter):\n%s", command, diff)
	}
}

func fieldsOf(t *testing.T, doc bson.Raw) []string {
	t.Helper()
	elements, err := doc.Elements()
	if err != nil {
		t.Fatal(err)
	}
	fields := make([]string, len(elements))
	for i, e := range elements {
		fields[i] = e.Key()
	}
	return fields
}

// fillForExplain makes a collection with all indexes and a thousand rows.
func fillForExplain(t *testing.T, s *Server) {
	t.Helper()
	if existing, err := s.ListTables(t.Context()); err == nil && slices.Contains(existing, "pi1") {
		if err := s.DropTable(t.Context(), "pi1"); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.CreateTable(t.Context(), ibench.Table{Name: "pi1", Indexes: ibench.Indexes}); err != nil {
		t.Fatal(err)
	}
	in, err := s.OpenInserter(t.Context(), "pi1")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	rows := ibench.NewRows(1, 0, ibench.DefaultRowSpec())
	var row ibench.Row
	for i := range int64(1000) {
		rows.At(i, &row)
		in.Append(&row)
	}
	if err := in.Insert(t.Context()); err != nil {
		t.Fatal(err)
	}
}
