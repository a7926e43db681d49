import type { english } from "./english.ts";

/** Everything that the pages say in one language. */
export type Texts = typeof english;
