import pMap from "p-map";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { FetchFailure } from "../../../api/service/net/trouble.ts";
import { type Lang, langs } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf } from "../../../registry/untrusted-text.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { differences, type Json, nodeIn } from "./differences.ts";

/** A service's answer about one layer: its node, null if there is none, or why it cannot be read. */
type Read = { node: Json } | { node: null } | { failure: string };

/** The targets of the older service; each release served at most two of them. */
export const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];
type ComparedTarget = (typeof comparedTargets)[number];

/** Requests with time for a slow service; a description has at most 2 MB, and a batch that is larger is halved. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 3_000_000 });
const maxAttempts = 3;

/** A complete answer, or why it is not read. */
type Answer = { status: number; bytes: Uint8Array } | { tooLarge: string };

/** Requests an address, and repeats a request that fails. @throws {Error} if the service cannot be reached */
async function ask(address: string): Promise<Answer> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			const answer = await fetchAnswer(address, { redirect: "manual" });
			return { status: answer.status, bytes: new Uint8Array(await answer.arrayBuffer()) };
		} catch (cause) {
			if (cause instanceof FetchFailure && cause.reason === "size") return { tooLarge: cause.message };
			if (attempt === maxAttempts) throw new Error(address, { cause });
		}
	}
}

/** The address at which a service of any release serves several layers of a target; null if it does not serve the target. */
async function docsOf(service: string, target: ComparedTarget, smallkey: string): Promise<string | null> {
	const { docs, aliases } = targetOf(target);
	for (const path of [docs, ...aliases.map((alias) => alias.docs)]) {
		const answer = await ask(`${service}/${path}/en/${encodeURIComponent(smallkey)}`);
		if (!("status" in answer) || answer.status !== 404) return `${service}/${path}`;
	}
	return null;
}

/** Layers in a row that cannot be read, after which a service is no longer asked: each one is a request of its own. */
const maxFailures = 40;

/** Reads some layers, in their order. */
type ReadLayers = (lang: Lang, smallkeys: readonly string[]) => Promise<Read[]>;

/**
 * Returns a function that reads layers. It throws an error if the service answers many layers in a row with something else.
 * @param docs as `docsOf` returns it
 */
function createReader(docs: string): ReadLayers {
	let failures = 0;
	const count = (read: Read): Read => {
		failures = "failure" in read ? failures + 1 : 0;
		if (failures < maxFailures || !("failure" in read)) return read;
		throw new Error(`${docs}: ${failures} layers in a row cannot be read, the last one: ${read.failure}`);
	};
	return (lang, smallkeys) => readLayers(docs, lang, smallkeys, count);
}

async function readLayers(
	docs: string,
	lang: Lang,
	smallkeys: readonly string[],
	count: (read: Read) => Read,
): Promise<Read[]> {
	const answer = await ask(`${docs}/${lang}/${smallkeys.map(encodeURIComponent).join(",")}`);
	const elements = "status" in answer && answer.status === 200 ? parseAnswer(answer.bytes) : null;
	if (Array.isArray(elements)) {
		if (elements.length === smallkeys.length)
			return elements.map((element) => count({ node: nodeIn(element) }));
		// v2 answers an empty list for a single unknown key.
		if (smallkeys.length === 1 && elements.length === 0) return [count({ node: null })];
	}
	if (smallkeys.length === 1) return [count({ failure: failureOf(answer) })];
	// One failing layer must not hide the others, so each half is read by itself.
	const half = Math.ceil(smallkeys.length / 2);
	const first = await readLayers(docs, lang, smallkeys.slice(0, half), count);
	return [...first, ...(await readLayers(docs, lang, smallkeys.slice(half), count))];
}

function failureOf(answer: Answer): string {
	if ("tooLarge" in answer) return answer.tooLarge;
	return answer.status === 200 ? "answers without a list of one layer" : `answers ${answer.status}`;
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

/** Kinds of difference that are listed: their texts have names that a service chooses. */
const maxKinds = 1_000;

/** Layers of one request: their list fits into an address, and few requests find a layer that fails. */
const batchSize = 20;

/** Concurrent requests to each service; the older one is a single process. */
const maxConcurrent = 4;

/**
 * Reads the same layers from two services, in each target that the older one serves and in both languages.
 * @param before address of the older service, without a slash at its end; `now` likewise
 * @param tick called after each batch with its number of layers, once for each target and language
 * @returns the differences and the compared targets; `unknown`: smallkeys without a layer on either service; `onlyNow`:
 * with a layer only on the newer one
 * @throws {Error} if a service cannot be reached or read, or the older one serves none of the targets
 */
export async function compareServices(
	before: string,
	now: string,
	smallkeys: readonly string[],
	tick: (layers: number) => void,
) {
	const targets: ComparedTarget[] = [];
	const findings = new Map<string, Finding>();
	/** Smallkeys that were compared; of these, those with a layer on the older service, and on the newer one. */
	const [asked, old, fresh] = [new Set<string>(), new Set<string>(), new Set<string>()];

	function add(kindOf: Class, text: string, target: ComparedTarget, smallkey: string): void {
		const isListed = findings.size < maxKinds || findings.has(`${kindOf} ${text}`);
		const kind = isListed ? text : "another difference";
		const name = `${kindOf} ${kind}`;
		const finding = findings.get(name) ?? { class: kindOf, kind, targets: new Set(), smallkeys: new Set() };
		finding.targets.add(target);
		finding.smallkeys.add(smallkey);
		findings.set(name, finding);
	}

	function compare(target: ComparedTarget, smallkey: string, one: Read, other: Read): void {
		asked.add(smallkey);
		if ("failure" in one || one.node) old.add(smallkey);
		if ("failure" in one) return add("unreadable", one.failure, target, smallkey);
		if ("failure" in other) return add("relevant", other.failure, target, smallkey);
		if (other.node) fresh.add(smallkey);
		if (!one.node) return;
		if (!other.node) return add("missing", "not there", target, smallkey);
		for (const [kind, isRelevant] of differences(one.node, other.node))
			add(isRelevant ? "relevant" : "cosmetic", kind, target, smallkey);
	}

	const [first = "-"] = smallkeys;
	for (const target of comparedTargets) {
		const docs = await docsOf(before, target, first);
		if (docs === null) continue;
		targets.push(target);
		const docsNow = await docsOf(now, target, first);
		if (docsNow === null) {
			for (const smallkey of smallkeys) add("relevant", "the version is not served", target, smallkey);
			continue;
		}
		const readers = [docs, docsNow].map(createReader);
		const starts = Array.from(
			{ length: Math.ceil(smallkeys.length / batchSize) },
			(_, index) => index * batchSize,
		);
		const tasks = langs.flatMap((lang) => starts.map((start) => ({ lang, start })));
		const compareBatch = async ({ lang, start }: (typeof tasks)[number]) => {
			const batch = smallkeys.slice(start, start + batchSize);
			const reads = readers.map((read) => read(lang, batch));
			const [some = [], others = []] = await Promise.all(reads);
			for (const [index, smallkey] of batch.entries())
				compare(target, smallkey, some[index] as Read, others[index] as Read);
			tick(batch.length);
		};
		await pMap(tasks, compareBatch, { concurrency: maxConcurrent });
	}
	if (targets.length === 0)
		throw new Error(`${before}: serves none of ${comparedTargets.join(", ")} below this address`);
	const notOld = [...asked].filter((key) => !old.has(key));
	return {
		findings: [...findings.values()].sort(
			(a, b) => b.smallkeys.size - a.smallkeys.size || (a.kind < b.kind ? -1 : 1),
		),
		targets,
		unknown: notOld.filter((key) => !fresh.has(key)),
		onlyNow: notOld.filter((key) => fresh.has(key)),
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
	{ findings, targets, unknown, onlyNow }: Awaited<ReturnType<typeof compareServices>>,
	smallkeys: readonly string[],
	namesAll: boolean,
): string[] {
	const lines = [`${counted(smallkeys.length, "layer")} read at ${targets.join(", ")}, in both languages`];
	for (const [name, title] of Object.entries(titles)) {
		const found = findings.filter((finding) => finding.class === name);
		if (found.length > 0) lines.push("", title, ...found.map((finding) => findingLine(finding, namesAll)));
	}
	const others = new Set([...unknown, ...onlyNow, ...findings.flatMap((finding) => [...finding.smallkeys])]);
	lines.push("", row(smallkeys.length - others.size, "the same in both"));
	if (onlyNow.length > 0)
		lines.push(row(onlyNow.length, `only in the new service: ${named(onlyNow, namesAll)}`));
	if (unknown.length > 0) lines.push(row(unknown.length, `in neither: ${named(unknown, namesAll)}`));
	return lines;
}

function findingLine({ kind, targets, smallkeys }: Finding, namesAll: boolean): string {
	return row(smallkeys.size, `${kind} (${[...targets].join(", ")}): ${named(smallkeys, namesAll)}`);
}

function named(smallkeys: Iterable<string>, namesAll: boolean): string {
	return firstOf([...smallkeys].sort(), namesAll ? Number.POSITIVE_INFINITY : maxNamed);
}

/** A line of a table: a count and its text. */
export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}
