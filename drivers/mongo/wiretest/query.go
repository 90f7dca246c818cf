package wiretest

import (
	"bytes"
	"cmp"
	"slices"

	"go.mongodb.org/mongo-driver/bson"
)

// matching gives the documents that a filter leaves: fields equal to a value,
// or compared by $gte, $lte, $in and $type. The lock is held.
func (s *store) matching(namespace string, filter bson.Raw) []bson.Raw {
	c := s.collections[namespace]
	if c == nil {
		return nil
	}
	var out []bson.Raw
	for _, d := range c.documents {
		if matches(d, filter) {
			out = append(out, d)
		}
	}
	return out
}

func matches(d, filter bson.Raw) bool {
	elements, _ := filter.Elements()
	for _, e := range elements {
		v := d.Lookup(e.Key())
		operators, ok := e.Value().DocumentOK()
		if !ok {
			if !v.Equal(e.Value()) {
				return false
			}
			continue
		}
		list, _ := operators.Elements()
		for _, o := range list {
			if !holds(o.Key(), v, o.Value()) {
				return false
			}
		}
	}
	return true
}

func holds(operator string, v, operand bson.RawValue) bool {
	switch operator {
	case "$gte":
		return compare(v, operand) >= 0
	case "$lte":
		return compare(v, operand) <= 0
	case "$in":
		values, _ := operand.Array().Values()
		return slices.ContainsFunc(values, v.Equal)
	case "$type":
		return v.Type == bson.TypeString
	default:
		return true
	}
}

// compare orders numbers, dates and ObjectIds among their like.
func compare(a, b bson.RawValue) int {
	if x, ok := a.AsInt64OK(); ok {
		y, _ := b.AsInt64OK()
		return cmp.Compare(x, y)
	}
	if x, ok := a.DateTimeOK(); ok {
		y, _ := b.DateTimeOK()
		return cmp.Compare(x, y)
	}
	return bytes.Compare(a.Value, b.Value)
}

// find gives what the filter leaves, sorted and cut, without the projection:
// documents come whole.
func (s *store) find(q request, namespace string) bson.D {
	filter, _ := q.body.Lookup("filter").DocumentOK()
	found := s.matching(namespace, filter)
	if order, ok := q.body.Lookup("sort").DocumentOK(); ok {
		fields, _ := order.Elements()
		slices.SortStableFunc(found, func(a, b bson.Raw) int {
			for _, f := range fields {
				direction, _ := f.Value().AsInt64OK()
				if c := compare(a.Lookup(f.Key()), b.Lookup(f.Key())); c != 0 {
					return c * int(direction)
				}
			}
			return 0
		})
	}
	if limit, ok := q.body.Lookup("limit").AsInt64OK(); ok && limit > 0 {
		found = found[:min(int(limit), len(found))]
	}
	batch := bson.A{}
	for _, d := range found {
		batch = append(batch, d)
	}
	return cursor(namespace, batch)
}

// delete removes what each filter leaves.
func (s *store) delete(q request, namespace string) bson.D {
	c := s.collections[namespace]
	deletes, ok := q.body.Lookup("deletes").ArrayOK()
	if c == nil || !ok {
		return succeed(bson.E{Key: "n", Value: int32(0)})
	}
	values, _ := deletes.Values()
	n := int32(0)
	for _, v := range values {
		filter := v.Document().Lookup("q").Document()
		c.documents = slices.DeleteFunc(c.documents, func(d bson.Raw) bool {
			gone := matches(d, filter)
			if gone {
				n++
			}
			return gone
		})
	}
	return succeed(bson.E{Key: "n", Value: n})
}

func (s *store) listIndexes(namespace string) bson.D {
	c := s.collections[namespace]
	if c == nil {
		return failure(26, "NamespaceNotFound", "ns does not exist: "+namespace)
	}
	batch := bson.A{bson.D{{Key: "key", Value: bson.D{{Key: "_id", Value: int32(1)}}}, {Key: "name", Value: "_id_"}}}
	for _, x := range c.indexes {
		batch = append(batch, x)
	}
	return cursor(namespace, batch)
}
