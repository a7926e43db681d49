import pMap from "p-map";
import { langs } from "../../registry/smallkey.ts";
import { differences } from "./differences.ts";
import { type ComparedTarget, comparedTargets, type Read, type ReadService } from "./service.ts";

/** `relevant`: a viewer draws or requests something else. `missing`: only the older service has the layer. */
export type Class = "relevant" | "cosmetic" | "missing" | "unreadable";

/** A kind of difference between two services. */
export interface Finding {
	class: Class;
	/** A text without anything about a single layer. */
	kind: string;
	targets: Set<ComparedTarget>;
	smallkeys: Set<string>;
}

/** The result of a comparison. */
export interface Comparison {
	findings: Finding[];
	/** The versions that were compared. */
	targets: ComparedTarget[];
	/** Smallkeys without a layer on both services, and those with a layer only on the newer one. */
	unknown: Set<string>;
	onlyNow: Set<string>;
}

/** Layers of one request: their list fits into an address, and a failing one is found quickly. */
const batchSize = 20;

/** Most concurrent requests to each service; the older one is a single process. */
const atOnce = 4;

/**
 * Reads the same layers from two services, in each version that the older one serves and in both languages.
 * @param tick called after each batch with its number of layers, once for each version and language
 * @throws {Error} where one of them cannot be reached, or the older one serves none of the versions
 */
export async function compareServices(
	before: ReadService,
	now: ReadService,
	smallkeys: readonly string[],
	tick: (layers: number) => void = () => undefined,
): Promise<Comparison> {
	const gathered = new Gathered();
	const [first = "-"] = smallkeys;
	for (const target of comparedTargets) {
		if (!(await before.serves(target, first))) continue;
		gathered.targets.push(target);
		if (await now.serves(target, first)) await compareTarget(target);
		else
			for (const smallkey of smallkeys)
				gathered.add("relevant", "the version is not served", target, smallkey);
	}
	if (gathered.targets.length === 0) {
		throw new Error(`${before.address}: serves none of ${comparedTargets.join(", ")} below this address`);
	}
	return gathered.comparison();

	async function compareTarget(target: ComparedTarget): Promise<void> {
		const batches = langs.flatMap((lang) => batchesOf(smallkeys).map((batch) => ({ lang, batch })));
		await pMap(
			batches,
			async ({ lang, batch }) => {
				const [old, fresh] = await Promise.all([
					before.read(target, lang, batch),
					now.read(target, lang, batch),
				]);
				for (const [index, smallkey] of batch.entries())
					gathered.compare(target, smallkey, old[index] as Read, fresh[index] as Read);
				tick(batch.length);
			},
			{ concurrency: atOnce },
		);
	}
}

function batchesOf(smallkeys: readonly string[]): string[][] {
	const starts = Array.from(
		{ length: Math.ceil(smallkeys.length / batchSize) },
		(_, index) => index * batchSize,
	);
	return starts.map((start) => smallkeys.slice(start, start + batchSize));
}

/** Collects the results while layers are read. */
class Gathered {
	readonly targets: ComparedTarget[] = [];
	readonly #findings = new Map<string, Finding>();
	/** Smallkeys with a layer on either service, and on the older one. */
	readonly #known = new Set<string>();
	readonly #old = new Set<string>();
	readonly #asked = new Set<string>();

	add(kindOf: Class, kind: string, target: ComparedTarget, smallkey: string): void {
		const name = `${kindOf} ${kind}`;
		const finding = this.#findings.get(name) ?? {
			class: kindOf,
			kind,
			targets: new Set<ComparedTarget>(),
			smallkeys: new Set<string>(),
		};
		finding.targets.add(target);
		finding.smallkeys.add(smallkey);
		this.#findings.set(name, finding);
	}

	compare(target: ComparedTarget, smallkey: string, old: Read, fresh: Read): void {
		this.#asked.add(smallkey);
		if ("failure" in old) {
			this.#old.add(smallkey);
			return this.add("unreadable", old.failure, target, smallkey);
		}
		if (old.node) this.#old.add(smallkey);
		if ("failure" in fresh) return this.add("relevant", fresh.failure, target, smallkey);
		if (old.node || fresh.node) this.#known.add(smallkey);
		if (!old.node) return;
		if (!fresh.node) return this.add("missing", "not there", target, smallkey);
		for (const { isRelevant, kind } of differences(old.node, fresh.node))
			this.add(isRelevant ? "relevant" : "cosmetic", kind, target, smallkey);
	}

	comparison(): Comparison {
		const asked = [...this.#asked];
		const findings = [...this.#findings.values()];
		findings.sort((a, b) => b.smallkeys.size - a.smallkeys.size || (a.kind < b.kind ? -1 : 1));
		return {
			findings,
			targets: this.targets,
			unknown: new Set(asked.filter((key) => !this.#known.has(key) && !this.#old.has(key))),
			onlyNow: new Set(asked.filter((key) => this.#known.has(key) && !this.#old.has(key))),
		};
	}
}
