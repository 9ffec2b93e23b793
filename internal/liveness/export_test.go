package liveness

// MachineID is what lock files name beside the kernel.
var MachineID = machineID
