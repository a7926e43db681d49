import pMap from "p-map";
import { type Lang, langs } from "../../registry/smallkey.ts";
import { counted, firstOf } from "../../terminal/plain.ts";
import { differences } from "./differences.ts";
import { type ComparedTarget, comparedTargets, type Read, type ReadService } from "./service.ts";

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
