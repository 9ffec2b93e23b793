# Lists the tree, then where links lead and which folders cannot be listed.
eval "find . -exec stat -c \"\$form\" {} + \\( $names \\) -prune" 2>/dev/null
printf '%s.' "$mark"
eval "find . \\( $names \\) -prune -o -type l -exec sh -c 'for l do printf \"\\n%sl%s\\n%st\" \"\$0\" \"\$l\" \"\$0\"; readlink \"\$l\"; done' $mark {} +" 2>/dev/null
eval "find . \\( $names \\) -prune -o -type d -exec sh -c 'for d do [ -r \"\$d\" ] && [ -x \"\$d\" ] || printf \"\\n%sc%s\" \"\$0\" \"\$d\"; done' $mark {} +" 2>/dev/null
true
