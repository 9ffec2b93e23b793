package jobobject

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// disableMaxPrivilege is DISABLE_MAX_PRIVILEGE: every privilege but the one to be told
// of changes of folders is removed.
const disableMaxPrivilege = 0x1

// restricted makes a token of this process's user with fewer rights: the groups of
// administrators only deny, there are no privileges, and its integrity is low.
func restricted() (windows.Token, error) {
	var own windows.Token
	const access = windows.TOKEN_DUPLICATE | windows.TOKEN_QUERY | windows.TOKEN_ASSIGN_PRIMARY | windows.TOKEN_ADJUST_DEFAULT
	if err := windows.OpenProcessToken(windows.CurrentProcess(), access, &own); err != nil {
		return 0, fmt.Errorf("open the token of this process: %w", err)
	}
	defer own.Close()
	disabled, err := administrators()
	if err != nil {
		return 0, err
	}
	token, err := createRestricted(own, disabled)
	if err != nil {
		return 0, err
	}
	if err := lower(token); err != nil {
		token.Close()
		return 0, err
	}
	return token, nil
}

// administrators are the groups whose rights are taken away.
func administrators() ([]windows.SIDAndAttributes, error) {
	var list []windows.SIDAndAttributes
	for _, kind := range []windows.WELL_KNOWN_SID_TYPE{
		windows.WinBuiltinAdministratorsSid, windows.WinBuiltinPowerUsersSid, windows.WinBuiltinBackupOperatorsSid,
		windows.WinBuiltinHyperVAdminsSid, windows.WinLocalAccountAndAdministratorSid,
	} {
		sid, err := windows.CreateWellKnownSid(kind)
		if err != nil {
			return nil, fmt.Errorf("name a group of administrators: %w", err)
		}
		list = append(list, windows.SIDAndAttributes{Sid: sid})
	}
	return list, nil
}

// createRestricted calls CreateRestrictedToken, which golang.org/x/sys does not have.
func createRestricted(own windows.Token, disabled []windows.SIDAndAttributes) (windows.Token, error) {
	call := windows.NewLazySystemDLL("advapi32.dll").NewProc("CreateRestrictedToken")
	if err := call.Find(); err != nil {
		return 0, err
	}
	var token windows.Token
	ok, _, err := call.Call(uintptr(own), disableMaxPrivilege, uintptr(len(disabled)), uintptr(unsafe.Pointer(unsafe.SliceData(disabled))),
		0, 0, 0, 0, uintptr(unsafe.Pointer(&token)))
	if ok == 0 {
		return 0, fmt.Errorf("create a restricted token: %w", err)
	}
	return token, nil
}

// lower gives a token low integrity: what it starts changes no file, process or
// registry key of the usual, medium one.
func lower(token windows.Token) error {
	sid, err := windows.CreateWellKnownSid(windows.WinLowLabelSid)
	if err != nil {
		return fmt.Errorf("name the low integrity: %w", err)
	}
	label := windows.Tokenmandatorylabel{Label: windows.SIDAndAttributes{Sid: sid, Attributes: windows.SE_GROUP_INTEGRITY}}
	if err := windows.SetTokenInformation(token, windows.TokenIntegrityLevel, (*byte)(unsafe.Pointer(&label)), label.Size()); err != nil {
		return fmt.Errorf("lower the integrity of a token: %w", err)
	}
	return nil
}
