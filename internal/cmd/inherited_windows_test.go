package cmd_test

func closeInherited() {}
