import type { LangDescription } from "../registry/description.ts";
import type { SickState } from "../registry/health.ts";
import type { Lang } from "../registry/smallkey.ts";

/**
 * Whose fault it is. `registration`: no such layer, a group layer, not a map service; the publisher has to act. `server`:
 * the service is down, slow or answers unexpectedly; this blocks nothing.
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

/** Shortens an untrusted text for use in a finding: one line, no control characters, at most 160 characters. */
export function quote(text: string): string {
	const line = text.replace(/[\p{C}\p{Z}]+/gu, " ").trim();
	return line.length > 160 ? `${line.slice(0, 159)}…` : line;
}

/** A service cannot be described, or not completely. The message is the rest of a sentence about the service. */
export class Trouble extends Error {
	readonly kind: Fault;
	/** Whether a later attempt may succeed. */
	readonly isTemporary: boolean;
	readonly tooLarge: boolean;

	constructor(kind: Fault, text: string, { isTemporary = false, tooLarge = false } = {}) {
		super(text);
		this.name = "Trouble";
		this.kind = kind;
		this.isTemporary = isTemporary;
		this.tooLarge = tooLarge;
	}
}

/** A task's value, or its `Trouble` as a value. @throws any other error */
export function orTrouble<T>(task: Promise<T>): Promise<T | Trouble> {
	return task.catch((error) => {
		if (error instanceof Trouble) return error;
		throw error;
	});
}

/** A task's value; null instead of a `Trouble`. @throws any other error */
export async function orNull<T>(task: Promise<T>): Promise<T | null> {
	const value = await orTrouble(task);
	return value instanceof Trouble ? null : value;
}

/** A description of one language of a layer, from its service. */
export interface Described {
	description: LangDescription;
	/** What could not be read, so that an earlier, complete description is better; null if everything was read. */
	missing: Trouble | null;
}

/** Layers of a service that is registered as a whole: each one is an entry in every fragment. */
const maxEntries = 1000;

/** @throws {Trouble} if a service has no layers, or too many to be registered as a whole */
export function checkEntries(entries: readonly unknown[]): void {
	if (entries.length === 0) throw new Trouble("registration", "has no layers");
	if (entries.length <= maxEntries) return;
	throw new Trouble("registration", `has more than ${maxEntries} layers: name those that are wanted`);
}

/** The result of looking at a layer as a viewer does; `text` is the rest of a sentence about its service. */
export type Look = { state: null } | { state: SickState; text: string };

/** The layer is visible, or nothing shows that it is not. */
export const seen: Look = { state: null };

const states: Record<Fault, SickState> = { registration: "wrong", server: "down" };

export function unseen(kind: Fault, text: string): Look {
	return { state: states[kind], text };
}
