find . ! -type f ! -type d -exec rm -f {} +
find . -type f -exec chmod 600 {} +
find . -type f -exec stat -c '%s %n' {} + || exit
echo
find . -type f -exec sha256sum {} + || exit
