// Package mongo runs both benchmarks against servers that speak the
// MongoDB protocol: mongod with any storage engine, mongos, Percona Server
// for MongoDB, FerretDB and others.
//
// Every insert goes down the client's raw command path: the whole command is
// BSON built by this package in a reused buffer, so nothing is inherited from
// a client's options and what reaches the server is what is written here. No
// type of the client's appears in an exported name, so that moving to another
// client is a change of this package alone.
package mongo
