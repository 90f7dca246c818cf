package ibench

// NewInsertTask gives the benchmark of the client's cost the task that a load runs.
var NewInsertTask = newInsertTask
