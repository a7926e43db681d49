import type { SickState } from "../registry/health.ts";
import type { Fault } from "./finding.ts";

/** What is seen of a layer: nothing wrong, or what is, as the rest of a sentence about its service. */
export type Look = { state: null } | { state: SickState; text: string };

/** There is something to be seen, or nobody can say. */
export const seen: Look = { state: null };

const states: Record<Fault, SickState> = { registration: "wrong", server: "down" };

/** Why a layer could not be looked at. */
export function unseen(kind: Fault, text: string): Look {
	return { state: states[kind], text };
}
