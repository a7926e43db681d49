/** An error that ends a command with its message and exit code 1: something is wrong, or refused. */
export class WrongError extends Error {}
