import pMap from "p-map";
import { createFetch } from "../../../api/service/net/fetch.ts";
import { FetchFailure } from "../../../api/service/net/trouble.ts";
import { type Lang, langs } from "../../../registry/smallkey.ts";
import type { TargetName } from "../../../registry/targets/facts.ts";
import { targetOf } from "../../../registry/targets/table.ts";
import { counted, firstOf } from "../../../registry/untrusted-text.ts";
import { parseAnswer } from "../../../site/service/decode.ts";
import { differences, type Json, nodeIn } from "./differences.ts";

/** `node`: null if the service has no such layer; `failure`: why it cannot be read. */
type Read = { node: Json | null } | { failure: string };

/** The targets of the older service; each release served at most two of them. */
export const comparedTargets = ["v0.9", "v1", "v2"] as const satisfies readonly TargetName[];
type ComparedTarget = (typeof comparedTargets)[number];

/** A description has at most 2 MB, and a batch that is larger is halved. */
const fetchAnswer = createFetch({ allowPrivate: true, timeoutMs: 30_000, maxBytes: 3_000_000 });
const maxAttempts = 3;

/** `failure`: why its elements are not those that were asked for. @throws {Error} if the service cannot be reached */
async function ask(address: string): Promise<{ status: number; elements: unknown; failure: string }> {
	for (let attempt = 1; ; attempt += 1) {
		try {
			const answer = await fetchAnswer(address, { redirect: "manual" });
			const { status } = answer;
			const bytes = new Uint8Array(await answer.arrayBuffer());
			if (status !== 200) return { status, elements: null, failure: `answers ${status}` };
			return { status, elements: parseAnswer(bytes), failure: "answers without a list of one layer" };
		} catch (cause) {
			if (cause instanceof FetchFailure && cause.reason === "size")
				return { status: 200, elements: null, failure: cause.message };
			if (attempt === maxAttempts) throw new Error(address, { cause });
		}
	}
}

/** The address at which a service of any release serves several layers of a target; null if it does not serve the target. */
async function docsOf(service: string, target: ComparedTarget, smallkey: string): Promise<string | null> {
	const { docs, aliases } = targetOf(target);
	for (const path of [docs, ...aliases.map((alias) => alias.docs)]) {
		const { status } = await ask(`${service}/${path}/en/${encodeURIComponent(smallkey)}`);
		if (status !== 404) return `${service}/${path}`;
	}
	return null;
}

/** Layers in a row that cannot be read, after which a service is no longer asked: each one is a request of its own. */
const maxFailures = 40;

/** Returns a function that reads layers of one service and target. It throws after too many failures. */
function createReader(docs: string) {
	let failures = 0;
	return async function read(lang: Lang, smallkeys: readonly string[]): Promise<Read[]> {
		const { elements, failure } = await ask(`${docs}/${lang}/${smallkeys.map(encodeURIComponent).join(",")}`);
		const isAlone = smallkeys.length === 1;
		// v2 answers an empty list for a single unknown key.
		const nodes = isAlone && Array.isArray(elements) && elements.length === 0 ? [null] : elements;
		if (Array.isArray(nodes) && nodes.length === smallkeys.length) {
			failures = 0;
			return nodes.map((element) => ({ node: nodeIn(element) }));
		}
		if (!isAlone) {
			// One failing layer must not hide the others, so each half is read by itself.
			const half = Math.ceil(smallkeys.length / 2);
			const first = await read(lang, smallkeys.slice(0, half));
			return [...first, ...(await read(lang, smallkeys.slice(half)))];
		}
		failures += 1;
		if (failures < maxFailures) return [{ failure }];
		throw new Error(`${docs}: ${failures} layers in a row cannot be read, the last one: ${failure}`);
	};
}

/** `relevant`: a viewer draws or requests something else. `missing`: only the older service has the layer. */
type Class = "relevant" | "cosmetic" | "missing" | "unreadable";

interface Finding {
	class: Class;
	kind: string;
	targets: Set<ComparedTarget>;
	smallkeys: Set<string>;
}

/** Kinds of difference that are listed: their texts have names that a service chooses. */
const maxKinds = 1_000;

/** What was found so far, and the smallkeys with a layer on the older service, and on the newer one. */
class Comparison {
	readonly findings = new Map<string, Finding>();
	readonly old = new Set<string>();
	readonly fresh = new Set<string>();

	add(kindOf: Class, text: string, target: ComparedTarget, smallkey: string): void {
		const isListed = this.findings.size < maxKinds || this.findings.has(`${kindOf} ${text}`);
		const kind = isListed ? text : "another difference";
		const { findings } = this;
		const finding = findings.get(`${kindOf} ${kind}`) ?? {
			...{ class: kindOf, kind },
			...{ targets: new Set(), smallkeys: new Set() },
		};
		finding.targets.add(target);
		finding.smallkeys.add(smallkey);
		findings.set(`${kindOf} ${kind}`, finding);
	}

	compare(target: ComparedTarget, smallkey: string, before: Read, now: Read): void {
		if ("failure" in before || before.node) this.old.add(smallkey);
		if ("failure" in before) return this.add("unreadable", before.failure, target, smallkey);
		if ("failure" in now) return this.add("relevant", now.failure, target, smallkey);
		if (now.node) this.fresh.add(smallkey);
		if (!before.node) return;
		if (!now.node) return this.add("missing", "not there", target, smallkey);
		for (const [kind, isRelevant] of differences(before.node, now.node))
			this.add(isRelevant ? "relevant" : "cosmetic", kind, target, smallkey);
	}
}

/** Layers of one request: their list fits into an address, and few requests find a layer that fails. */
const batchSize = 20;

/** Concurrent requests to each service; the older one is a single process. */
const maxConcurrent = 4;

/**
 * Reads the same layers from two services, in each target that the older one serves and in both languages.
 * @param before address of the older service, without a slash at its end; `now` likewise
 * @param tick called after each batch with its number of layers, once for each target and language
 * @returns `unknown`: smallkeys without a layer on either service; `onlyNow`: with a layer only on the newer one
 * @throws {Error} if a service cannot be reached or read, or the older one serves none of the targets
 */
export async function compareServices(
	before: string,
	now: string,
	smallkeys: readonly string[],
	tick: (layers: number) => void,
) {
	const targets: ComparedTarget[] = [];
	const comparison = new Comparison();
	const [first = "-"] = smallkeys;
	const starts = [...smallkeys.keys()].filter((index) => index % batchSize === 0);
	const batches = langs.flatMap((lang) =>
		starts.map((start) => ({ lang, keys: smallkeys.slice(start, start + batchSize) })),
	);
	for (const target of comparedTargets) {
		const docs = await docsOf(before, target, first);
		if (docs === null) continue;
		targets.push(target);
		const docsNow = await docsOf(now, target, first);
		if (docsNow === null) {
			for (const smallkey of smallkeys)
				comparison.add("relevant", "the version is not served", target, smallkey);
			continue;
		}
		const [readOld, readFresh] = [createReader(docs), createReader(docsNow)];
		const compareBatch = async ({ lang, keys }: (typeof batches)[number]) => {
			const [old, fresh] = await Promise.all([readOld(lang, keys), readFresh(lang, keys)]);
			for (const [index, smallkey] of keys.entries())
				comparison.compare(target, smallkey, old[index] as Read, fresh[index] as Read);
			tick(keys.length);
		};
		await pMap(batches, compareBatch, { concurrency: maxConcurrent });
	}
	if (targets.length === 0)
		throw new Error(`${before}: serves none of ${comparedTargets.join(", ")} below this address`);
	const findings = [...comparison.findings.values()];
	const listed = new Set(findings.flatMap((finding) => [...finding.smallkeys]));
	const others = smallkeys.filter((key) => !comparison.old.has(key) && !listed.has(key));
	return {
		findings: findings.sort((a, b) => b.smallkeys.size - a.smallkeys.size || (a.kind < b.kind ? -1 : 1)),
		targets,
		unknown: others.filter((key) => !comparison.fresh.has(key)),
		onlyNow: others.filter((key) => comparison.fresh.has(key)),
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

export function reportLines(
	{ findings, targets, unknown, onlyNow }: Awaited<ReturnType<typeof compareServices>>,
	smallkeys: readonly string[],
	namesAll: boolean,
): string[] {
	const namesOf = (keys: Iterable<string>) =>
		firstOf([...keys].sort(), namesAll ? Number.POSITIVE_INFINITY : maxNamed);
	const lines = [`${counted(smallkeys.length, "layer")} read at ${targets.join(", ")}, in both languages`];
	for (const [name, title] of Object.entries(titles)) {
		const rows = findings
			.filter((finding) => finding.class === name)
			.map(({ kind, targets, smallkeys }) =>
				row(smallkeys.size, `${kind} (${[...targets].join(", ")}): ${namesOf(smallkeys)}`),
			);
		if (rows.length > 0) lines.push("", title, ...rows);
	}
	const others = new Set([...unknown, ...onlyNow, ...findings.flatMap((finding) => [...finding.smallkeys])]);
	lines.push("", row(smallkeys.length - others.size, "the same in both"));
	if (onlyNow.length > 0) lines.push(row(onlyNow.length, `only in the new service: ${namesOf(onlyNow)}`));
	if (unknown.length > 0) lines.push(row(unknown.length, `in neither: ${namesOf(unknown)}`));
	return lines;
}

export function row(count: number, text: string): string {
	return `${String(count).padStart(8)}  ${text}`;
}
