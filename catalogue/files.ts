/** Files below an output by path: their text, or null for one that goes. */
export type Files = Map<string, string | null>;

/** Reads a file of an output; null where it is not there. */
export type ReadFile = (path: string) => string | null;
