# Does the steps of a restore in the folder $root. What fails is printed as "step reason".
nl='
'
bad=' '
fail() {
	bad="$bad$1 "
	printf '%s %s%s' "$1" "$2" "$mark"
}
# into enters a folder of the tree, unless a part of its path is a link.
into() {
	owned
	cd -P -- "$root${1:+/$1}" 2>/dev/null && [ "$(pwd -P && echo .)" = "$root${1:+/$1}$nl." ]
}
failed() { case $bad in *" $1 "*) ;; *) return 1 ;; esac }
# look sets k to the kind of a name, v to what is in it and o to its mode.
look() {
	v= o=
	if [ -L "$1" ]; then
		k=l
		v=$(readlink "$1" && echo .)
		v=${v%??}
	elif [ -d "$1" ]; then
		k=d
		o=$(stat -c %a "$1")
	elif [ -f "$1" ]; then
		k=f
		v=$(sha256sum <"$1" 2>/dev/null)
		v=${v%% *}
		o=$(stat -c %a "$1")
	elif [ -e "$1" ]; then
		k=x
	else
		k=
	fi
}
# del STEP DIR NAME, the state from, the kind to
del() {
	failed "$1" && return
	if ! into "$2"; then
		[ ! "$7" ] && [ ! -e "$root/$2" ] && [ ! -L "$root/$2" ] || fail "$1" 'its folder is not there'
		return
	fi
	look "$3"
	if [ ! "$k" ] || { [ "$7" ] && [ "$k" = "$7" ]; }; then
		return
	elif [ "$k$4" = dd ]; then
		e=$(rmdir "$3" 2>&1) || fail "$1" "$e"
	elif [ "$k$v$o" = "$4$5$6" ]; then
		e=$(rm -f "$3" 2>&1) || fail "$1" "$e"
	else
		fail "$1" @
	fi
}
# make STEP DIR NAME
make() {
	failed "$1" && return
	into "$2" || { fail "$1" 'its folder is not there'; return; }
	if [ -L "$3" ]; then
		fail "$1" @
	elif [ ! -d "$3" ]; then
		if [ -e "$3" ]; then fail "$1" @; else e=$(mkdir -m 700 "$3" 2>&1) || fail "$1" "$e"; fi
	fi
}
# put STEP DIR NAME, the state from, the state to, CONTENT TEMPORARY-NAME
put() {
	failed "$1" && return
	into "$2" || { fail "$1" 'its folder is not there'; return; }
	t=${11}
	rm -f "$t"
	look "$3"
	if [ "$k$v$o" = "$7$8$9" ]; then
		return
	elif [ "$k$v$o" != "$4$5$6" ] && { [ "$k" ] || [ "$4" = "$7" ]; }; then
		fail "$1" @
	elif [ "$7" = l ]; then
		e=$(ln -s -- "$8" "$t" 2>&1) || { fail "$1" "$e"; return; }
		mv -fT "$t" "$3" 2>/dev/null || { rm -f "$3" && e=$(mv -f "$t" "$3" 2>&1); } || fail "$1" "$e"
	elif [ "$k$v" = "f$8" ]; then
		e=$(chmod "$9" "$3" 2>&1) || fail "$1" "$e"
	else
		e=$(cp "$ws/${10}" "$t" 2>&1) || { rm -f "$t"; fail "$1" "$e"; return; }
		v=$(sha256sum <"$t")
		if [ "${v%% *}" != "$8" ]; then
			rm -f "$t"
			fail "$1" 'its copy in the checkpoint is damaged or missing'
			return
		fi
		# -T, since a link to a folder may have come; without it such a link stays.
		e=$(chmod "$9" "$t" 2>&1 && { mv -fT "$t" "$3" 2>/dev/null || { [ ! -d "$3" ] && mv -f "$t" "$3" 2>&1; }; }) || { rm -f "$t"; fail "$1" "${e:-it changed in that moment}"; }
	fi
}
# mode STEP DIR NAME MODE
mode() {
	failed "$1" && return
	into "$2" && [ -d "$3" ] && [ ! -L "$3" ] || return
	[ "$(stat -c %a "$3")" = "$4" ] && return
	e=$(chmod "$4" "$3" 2>&1) || fail "$1" "$e"
}
