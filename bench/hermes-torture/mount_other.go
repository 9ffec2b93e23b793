//go:build !linux

package main

import "context"

func mountDisk(context.Context, string, int64) (*smallDisk, error) { return nil, errNoDisk }
