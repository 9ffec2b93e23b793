# Lists the folders and the .gitignore files.
eval "find . \\( $names \\) -prune -o \\( -type d -o -type f -name .gitignore \\) -exec stat -c \"\$form\" {} +" 2>/dev/null
printf '%s.' "$mark"
