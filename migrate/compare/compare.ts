import pMap from "p-map";
import { createFetch } from "../../harvest/net/fetch.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { targetOf } from "../../registry/targets/table.ts";
import type { TargetName } from "../../registry/targets/target.ts";
import { tryJson } from "../../registry/try-json.ts";
import { counted, firstOf } from "../../terminal/plain.ts";
import { differences } from "./differences.ts";
import { type Json, nodeIn } from "./json.ts";

/** A service's answer about one layer: its node, null if there is none, or why it cannot be read. */
type Read = { node: Json } | { node: null } | { failure: string };

/** The targets of the older service; each release served at most two of them. */
export const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];
type ComparedTarget = (typeof comparedTargets)[number];

/** Requests with time for a slow service, and room for an answer far above a batch of the largest layers. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 100_000_000 });
const maxAttempts = 3;

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
		const elements = status === 200 ? tryJson(text) : null;
		if (Array.isArray(elements)) {
			if (elements.length === smallkeys.length) return elements.map((element) => ({ node: nodeIn(element) }));
			// v2 answers an empty list for a single unknown key.
			if (smallkeys.length === 1 && elements.length === 0) return [{ node: null }];
		}
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

/** `relevant`: a viewer draws or requests something else. `missing`: only the older service has the layer. */
type Class = "relevant" | "cosmetic" | "missing" | "unreadable";

/** A kind of difference between two services. */
interface Finding {
	class: Class;
	/** What differs, in words that name no single layer. */
	kind: string;
	targets: Set<ComparedTarget>;
	smallkeys: Set<string>;
}

/** The result of a comparison. */
interface Comparison {
	findings: Finding[];
	/** The versions that were compared. */
	targets: ComparedTarget[];
	/** `unknown`: smallkeys without a layer on either service. `onlyNow`: with a layer only on the newer service. */
	unknown: Set<string>;
	onlyNow: Set<string>;
}

/** Layers of one request: their list fits into an address, and few requests find a layer that fails. */
const batchSize = 20;

/** Concurrent requests to each service; the older one is a single process. */
const maxConcurrent = 4;

/**
 * Reads the same layers from two services, in each version that the older one serves and in both languages.
 * @param tick called after each batch with its number of layers, once for each version and language
 * @throws {Error} if a service cannot be reached, or the older one serves none of the versions
 */
export async function compareServices(
	before: ReadService,
	now: ReadService,
	smallkeys: readonly string[],
	tick: (layers: number) => void = () => undefined,
): Promise<Comparison> {
	const targets: ComparedTarget[] = [];
	const findings = new Map<string, Finding>();
	/** Smallkeys that were compared; of these, those with a layer on either service, and those with one on the older one. */
	const [asked, known, old] = [new Set<string>(), new Set<string>(), new Set<string>()];

	function add(kindOf: Class, kind: string, target: ComparedTarget, smallkey: string): void {
		const name = `${kindOf} ${kind}`;
		const nothing = { class: kindOf, kind, targets: new Set<ComparedTarget>(), smallkeys: new Set<string>() };
		const finding = findings.get(name) ?? nothing;
		finding.targets.add(target);
		finding.smallkeys.add(smallkey);
		findings.set(name, finding);
	}

	function compare(target: ComparedTarget, smallkey: string, earlier: Read, fresh: Read): void {
		asked.add(smallkey);
		if ("failure" in earlier || earlier.node) old.add(smallkey);
		if ("failure" in earlier) return add("unreadable", earlier.failure, target, smallkey);
		if ("failure" in fresh) return add("relevant", fresh.failure, target, smallkey);
		if (earlier.node || fresh.node) known.add(smallkey);
		if (!earlier.node) return;
		if (!fresh.node) return add("missing", "not there", target, smallkey);
		for (const { isRelevant, kind } of differences(earlier.node, fresh.node))
			add(isRelevant ? "relevant" : "cosmetic", kind, target, smallkey);
	}

	const batches: (readonly string[])[] = [];
	for (let start = 0; start < smallkeys.length; start += batchSize)
		batches.push(smallkeys.slice(start, start + batchSize));
	const compareBatch = async (target: ComparedTarget, lang: Lang, batch: readonly string[]) => {
		const reads = [before, now].map((service) => service.read(target, lang, batch));
		const [earlier = [], fresh = []] = await Promise.all(reads);
		for (const [index, smallkey] of batch.entries())
			compare(target, smallkey, earlier[index] as Read, fresh[index] as Read);
		tick(batch.length);
	};

	const [first = "-"] = smallkeys;
	for (const target of comparedTargets) {
		if (!(await before.serves(target, first))) continue;
		targets.push(target);
		if (await now.serves(target, first)) {
			const tasks = langs.flatMap((lang) => batches.map((batch) => ({ lang, batch })));
			await pMap(tasks, ({ lang, batch }) => compareBatch(target, lang, batch), {
				concurrency: maxConcurrent,
			});
		} else for (const smallkey of smallkeys) add("relevant", "the version is not served", target, smallkey);
	}
	if (targets.length === 0) {
		throw new Error(`${before.address}: serves none of ${comparedTargets.join(", ")} below this address`);
	}
	const notOld = [...asked].filter((key) => !old.has(key));
	return {
		findings: [...findings.values()].sort(
			(a, b) => b.smallkeys.size - a.smallkeys.size || (a.kind < b.kind ? -1 : 1),
		),
		targets,
		unknown: new Set(notOld.filter((key) => !known.has(key))),
		onlyNow: new Set(notOld.filter((key) => known.has(key))),
	};
}

/** Smallkeys that are listed for each kind, unless all are requested. */
const maxNamed = 3;

const titles: Readonly<Record<Class, string>> = {
	relevant: "Viewer-relevant: layers that a viewer would draw or ask otherwise",
	missing: "Missing: layers that the new service does not have",
	cosmetic: "Cosmetic: layers in which no viewer sees a difference, or a better one",
	unreadable: "Not compared: layers that the older service cannot serve itself",
};

/** The result as lines of a table, by kind, the most frequent first. */
export function reportLines(
	comparison: Comparison,
	smallkeys: readonly string[],
	namesAll: boolean,
): string[] {
	const { findings, targets, unknown, onlyNow } = comparison;
	const lines = [`${counted(smallkeys.length, "layer")} read at ${targets.join(", ")}, in both languages`];
	for (const [name, title] of Object.entries(titles)) {
		const found = findings.filter((finding) => finding.class === name);
		if (found.length > 0) lines.push("", title, ...found.map((finding) => findingLine(finding, namesAll)));
	}
	const others = new Set(findings.flatMap((finding) => [...finding.smallkeys]));
	for (const smallkey of [...unknown, ...onlyNow]) others.add(smallkey);
	lines.push("", row(smallkeys.length - others.size, "the same in both"));
	if (onlyNow.size > 0) lines.push(row(onlyNow.size, `only in the new service: ${named(onlyNow, namesAll)}`));
	if (unknown.size > 0) lines.push(row(unknown.size, `in neither: ${named(unknown, namesAll)}`));
	return lines;
}

function findingLine({ kind, targets, smallkeys }: Finding, namesAll: boolean): string {
	return row(smallkeys.size, `${kind} (${[...targets].join(", ")}): ${named(smallkeys, namesAll)}`);
}

function named(smallkeys: ReadonlySet<string>, namesAll: boolean): string {
	return firstOf([...smallkeys].sort(), namesAll ? Number.POSITIVE_INFINITY : maxNamed);
}

/** A line of a table: a count and its text. */
export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}
