import { createFetch } from "../../harvest/net/fetch.ts";
import type { Lang } from "../../registry/smallkey.ts";
import { targetOf } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { tryJson } from "../../registry/try-json.ts";
import { type Json, nodeIn } from "./json.ts";

/** A service's answer about one layer: its node, null if there is none, or why it cannot be read. */
export type Read = { node: Json } | { node: null } | { failure: string };

/** The targets of the older service; each release served at most two of them. */
export const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];
export type ComparedTarget = (typeof comparedTargets)[number];

/** Longest wait for one answer, in milliseconds, and the maximum of attempts of a request. */
const timeoutMs = 30_000;
const maxAttempts = 3;

/** Bytes of one answer, far above a batch of the largest layers. */
const maxBytes = 100_000_000;

const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs, maxBytes });

/** Reads layers from a service of any release. */
export class ReadService {
	/** Without a slash at its end. */
	readonly address: string;
	/** Target → path from which several layers are read: `v1/docs`. */
	readonly #paths = new Map<ComparedTarget, string>();

	constructor(address: string) {
		this.address = address;
	}

	/** Whether a version is served. @throws {Error} if the service cannot be reached */
	async serves(target: ComparedTarget, smallkey: string): Promise<boolean> {
		const { docs, aliases } = targetOf(target);
		for (const path of [docs, ...aliases.map((alias) => alias.docs)]) {
			const { status } = await this.#ask(`${path}/en/${encodeURIComponent(smallkey)}`);
			if (status === 404) continue;
			this.#paths.set(target, path);
			return true;
		}
		return false;
	}

	/** Reads some layers, in their order. @throws {Error} if the service cannot be reached */
	async read(target: ComparedTarget, lang: Lang, smallkeys: readonly string[]): Promise<Read[]> {
		const path = this.#paths.get(target) ?? targetOf(target).docs;
		const { status, text } = await this.#ask(
			`${path}/${lang}/${smallkeys.map(encodeURIComponent).join(",")}`,
		);
		const elements = status === 200 ? elementsOf(text) : null;
		if (elements?.length === smallkeys.length) return elements.map((element) => ({ node: nodeIn(element) }));
		// v2 answers an empty list for a single unknown key.
		if (smallkeys.length === 1 && elements?.length === 0) return [{ node: null }];
		if (smallkeys.length === 1) {
			const reason = status === 200 ? "answers without a list of one layer" : `answers ${status}`;
			return [{ failure: reason }];
		}
		// One failing layer must not hide the others, so each half is read by itself.
		const half = Math.ceil(smallkeys.length / 2);
		const first = await this.read(target, lang, smallkeys.slice(0, half));
		return [...first, ...(await this.read(target, lang, smallkeys.slice(half)))];
	}

	async #ask(path: string): Promise<{ status: number; text: string }> {
		const address = `${this.address}/${path}`;
		for (let attempt = 1; ; attempt += 1) {
			try {
				const answer = await fetchAnswer(address, { redirect: "manual" });
				return { status: answer.status, text: await answer.text() };
			} catch (cause) {
				if (attempt === maxAttempts) throw new Error(address, { cause });
			}
		}
	}
}

function elementsOf(text: string): unknown[] | null {
	const value = tryJson(text);
	return Array.isArray(value) ? value : null;
}
