package audit

// nonBlock is nothing: folders have no named pipes there.
const nonBlock = 0
