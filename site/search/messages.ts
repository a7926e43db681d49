import type { Entry } from "../../registry/entries.ts";
import type { Matched } from "./matcher.ts";

/** What the worker is sent: layers, in the order in which the page has them, or a text to find. */
export type ToMatcher = { add: readonly Entry[] } | { serial: number; text: string };

/** What it answers to a text. */
export type FromMatcher = Matched & { serial: number };
