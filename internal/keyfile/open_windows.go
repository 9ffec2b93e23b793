package keyfile

// NonBlock has no meaning for regular files here.
const NonBlock = 0
