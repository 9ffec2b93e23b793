package keyfile

// nonblock has no meaning for regular files here.
const nonblock = 0
