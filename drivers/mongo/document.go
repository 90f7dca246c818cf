package mongo

import (
	"encoding/binary"

	"insertbench/ibench"
)

// The field names of iibench.py in the order of its documents, and the short
// names of its --name_* flags (mdcallag/mytools, bench/ibench). "product" is
// the original's name of productid.
var (
	longNames = fieldNames{
		dateAndTime: "dateandtime", cashRegisterID: "cashregisterid", customerID: "customerid",
		productID: "product", price: "price", data: "data",
	}
	shortNames = fieldNames{
		dateAndTime: "ts", cashRegisterID: "caid", customerID: "cuid",
		productID: "prod", price: "prid", data: "data",
	}
)

type fieldNames struct {
	dateAndTime, cashRegisterID, customerID, productID, price, data string
}

// of is the field that holds a column of ibench.Columns.
func (f fieldNames) of(column string) string {
	switch column {
	case "dateandtime":
		return f.dateAndTime
	case "cashregisterid":
		return f.cashRegisterID
	case "customerid":
		return f.customerID
	case "productid":
		return f.productID
	case "price":
		return f.price
	case "data":
		return f.data
	default:
		return column
	}
}

// BSON element types (bsonspec.org, version 1.1).
const (
	typeString   = 0x02
	typeDocument = 0x03
	typeArray    = 0x04
	typeObjectID = 0x07
	typeBool     = 0x08
	typeDate     = 0x09
	typeInt32    = 0x10
	typeInt64    = 0x12
)

// template is a document up to its data, with the places where a row's values
// go. Copying it and writing seven numbers is all that a row costs.
type template struct {
	bytes []byte
	id, dateAndTime, cashRegisterID, customerID, productID,
	price, dataLength int
	kind IDKind
}

func newTemplate(kind IDKind, names fieldNames) template {
	t := template{kind: kind, bytes: make([]byte, 4)} // the document's length
	if kind == Int64 {
		t.id = t.field(typeInt64, "_id", 8)
	} else {
		t.id = t.field(typeObjectID, "_id", 12)
	}
	t.dateAndTime = t.field(typeDate, names.dateAndTime, 8)
	t.cashRegisterID = t.field(typeInt32, names.cashRegisterID, 4)
	t.customerID = t.field(typeInt32, names.customerID, 4)
	t.productID = t.field(typeInt32, names.productID, 4)
	t.price = t.field(typeInt32, names.price, 4)
	t.dataLength = t.field(typeString, names.data, 4)
	return t
}

// field adds an element of a fixed size and tells where its value starts.
func (t *template) field(kind byte, name string, size int) int {
	t.bytes = appendHeader(t.bytes, kind, name)
	at := len(t.bytes)
	t.bytes = append(t.bytes, make([]byte, size)...)
	return at
}

// trailer is what follows data: the string's zero and the document's.
const trailer = 2

// sizeBytes is a document's size for so many bytes of data.
func (t *template) sizeBytes(data int) int { return len(t.bytes) + data + trailer }

// append adds a row as a document. It keeps nothing of row.
func (t *template) append(dst []byte, row *ibench.Row) []byte {
	start := len(dst)
	dst = append(dst, t.bytes...)
	doc := dst[start:]
	le := binary.LittleEndian
	le.PutUint32(doc, uint32(t.sizeBytes(len(row.Data))))
	if t.kind == Int64 {
		le.PutUint64(doc[t.id:], uint64(row.Client)<<40|uint64(row.Number))
	} else {
		putObjectID(doc[t.id:], row)
	}
	le.PutUint64(doc[t.dateAndTime:], uint64(row.Seconds*1000))
	le.PutUint32(doc[t.cashRegisterID:], uint32(row.CashRegisterID))
	le.PutUint32(doc[t.customerID:], uint32(row.CustomerID))
	le.PutUint32(doc[t.productID:], uint32(row.ProductID))
	le.PutUint32(doc[t.price:], uint32(row.Price))
	le.PutUint32(doc[t.dataLength:], uint32(len(row.Data)+1)) // a BSON string counts its zero
	dst = append(dst, row.Data...)
	return append(dst, 0, 0)
}

// putObjectID writes 4 bytes of seconds, 5 of the client and 3 of the row's
// number, each with its high byte first, so that keys sort as rows do.
func putObjectID(dst []byte, row *ibench.Row) {
	be := binary.BigEndian
	be.PutUint32(dst, uint32(row.Seconds))
	dst[4] = byte(uint64(row.Client) >> 32)
	be.PutUint32(dst[5:], uint32(row.Client))
	dst[9] = byte(row.Number >> 16)
	dst[10] = byte(row.Number >> 8)
	dst[11] = byte(row.Number)
}

func appendHeader(dst []byte, kind byte, name string) []byte {
	dst = append(dst, kind)
	dst = append(dst, name...)
	return append(dst, 0)
}
