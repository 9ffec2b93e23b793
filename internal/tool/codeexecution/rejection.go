package codeexecution

import (
	"errors"
	"reflect"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libquickjs"
	"modernc.org/quickjs"
)

// trackRejections has the engine tell its prelude of each promise that fails without a handler,
// and of each such promise that gets one. Package quickjs does not offer that, so that it is asked
// of the library below it, whose handles are read from fields that are not exported.
func trackRejections(vm *quickjs.VM) error {
	r := reflect.Indirect(reflect.ValueOf(vm).Elem().FieldByName("runtime"))
	if r.Kind() != reflect.Struct || r.FieldByName("cRuntime").Kind() != reflect.Uintptr || r.FieldByName("tls").Type() != reflect.TypeFor[*libc.TLS]() {
		return errors.New("this version of the engine has no tracker of failed promises")
	}
	tls := (*libc.TLS)(r.FieldByName("tls").UnsafePointer())
	track := onRejection
	libquickjs.XJS_SetHostPromiseRejectionTracker(tls, uintptr(r.FieldByName("cRuntime").Uint()), *(*uintptr)(unsafe.Pointer(&track)), 0)
	return nil
}

// maxRejections is how many failed promises without a handler are known at once.
const maxRejections = 1000

// onRejection adds a promise, and the reason why it failed, to an array of the prelude. It runs no
// JavaScript: what stops the script would stop that instead. Without memory it does nothing.
func onRejection(tls *libc.TLS, ctx uintptr, promise, reason libquickjs.TJSValue, handled int32, _ uintptr) {
	array, add := "__hermes_rejected", []libquickjs.TJSValue{promise, reason}
	if handled != 0 {
		array, add = "__hermes_handled", add[:1]
	}
	name, err := libc.CString(array)
	if err != nil {
		return
	}
	defer libc.Xfree(tls, name)
	length, err := libc.CString("length")
	if err != nil {
		return
	}
	defer libc.Xfree(tls, length)
	number := libc.Xcalloc(tls, 1, 8)
	if number == 0 {
		return
	}
	defer libc.Xfree(tls, number)
	global := libquickjs.XJS_GetGlobalObject(tls, ctx)
	list := libquickjs.XJS_GetPropertyStr(tls, ctx, global, name)
	size := libquickjs.XJS_GetPropertyStr(tls, ctx, list, length)
	if libquickjs.XJS_ToInt64(tls, ctx, number, size) == 0 {
		n := **(**int64)(unsafe.Pointer(&number)) // its memory is none of Go, so that the address is not converted
		for i, v := range add {
			if handled != 0 || n < 2*maxRejections {
				libquickjs.XJS_SetPropertyUint32(tls, ctx, list, uint32(n)+uint32(i), libquickjs.XDupValue(tls, ctx, v))
			}
		}
	}
	for _, v := range []libquickjs.TJSValue{size, list, global, libquickjs.XJS_GetException(tls, ctx)} {
		libquickjs.XFreeValue(tls, ctx, v)
	}
}
