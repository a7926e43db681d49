import type { LangDescription } from "../registry/description.ts";
import type { SickState } from "../registry/health.ts";
import type { Lang } from "../registry/smallkey.ts";

/**
 * Whose fault it is. `registration`: no such layer, a group layer, not a map service: its publisher has to act.
 * `server`: the service is down, slow or odd; nothing is blocked by that.
 */
export type Fault = "registration" | "server";

export interface Finding {
	kind: Fault;
	lang: Lang;
	/** JSON pointer into the registration: `/en/service_url`. */
	pointer: string;
	/** What is wrong: one line of plain text. It may quote the service, and must be escaped in markup. */
	text: string;
}

/** A foreign text for use in a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
	return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** A service cannot be described, or not wholly. Its message is the rest of a sentence about the service. */
export class Trouble extends Error {
	readonly kind: Fault;
	/** Whether a further document may be there another time. */
	readonly isPassing: boolean;
	readonly tooLarge: boolean;

	constructor(kind: Fault, text: string, { isPassing = false, tooLarge = false } = {}) {
		super(text);
		this.name = "Trouble";
		this.kind = kind;
		this.isPassing = isPassing;
		this.tooLarge = tooLarge;
	}
}

/** A task's value, or its trouble. @throws any other error */
export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

/** A task's value; null if there is trouble. @throws any other error */
export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}

/** What a service says of one language of a layer. */
export interface Described {
	description: LangDescription;
	/** What could not be read this time, so that an earlier, complete description is better; null: nothing. */
	missing: Trouble | null;
}

/** Most layers of a service that is taken whole: each one is an entry in every fragment. */
const maxEntries = 1000;

/** @throws {Trouble} if the layers of a service cannot be taken whole */
export function checkEntries(entries: readonly unknown[]): void {
	if (entries.length === 0) throw new Trouble("registration", "has no layers");
	if (entries.length <= maxEntries) return;
	throw new Trouble("registration", `has more than ${maxEntries} layers: name those that are wanted`);
}

/** What a viewer would see of a layer: nothing wrong, or what is, as the rest of a sentence about its service. */
export type Look = { state: null } | { state: SickState; text: string };

/** The layer can be seen, or its service gives no reason to think otherwise. */
export const seen: Look = { state: null };

const states: Record<Fault, SickState> = { registration: "wrong", server: "down" };

export function unseen(kind: Fault, text: string): Look {
	return { state: states[kind], text };
}
