# Holds a background command. Its input stays open until someone opens the pipe close. The
# arguments are those that start.sh gives.
b=$4
s=$1 k=$2 id=$3 shell=$5 kept=$6 env=$7 line=$8 inner=$9
shift 9
__hermes_run=$id $3 "$shell" -c "$inner" "${shell##*/}" "$s" "$k" "$id" "$env" "$kept" "$line" <"$b/in" >>"$1" 2>>"$2" &
p=$!
(
	exec 9>"$b/in"
	: <"$b/close"
) &
wait "$p"
echo $? >"$b/code"
kill "$!"
