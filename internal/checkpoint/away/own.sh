# own ends the script if another program has taken the workspace $ws, and says that this one
# is at work; owned only does the first.
owned() {
	read -r m w t <"$ws/owner" 2>/dev/null && [ "$m $w" = "$owner" ] || exit 42
}
own() {
	owned
	echo "$owner $(date +%s)" >"$ws/owner.tmp" && mv -f "$ws/owner.tmp" "$ws/owner" || exit 42
}
