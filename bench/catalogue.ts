import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sign } from "../api/signature.ts";
import { buildPages } from "../catalogue/pages.ts";
import { fragmentSettings } from "../publish/slots.ts";
import { canonicalText } from "../registry/canonical.ts";
import type { Entry } from "../registry/index/entry.ts";
import { buildIndex, updateIndex } from "../registry/index/index.ts";
import { titleWords } from "../registry/index/words.ts";
import { Pieces } from "../site/catalogue/pieces.ts";
import { search } from "../site/catalogue/search.ts";
import { plainSettings } from "../site/page/settings.ts";
import { changeOneLayer, removeOutput } from "./builds.ts";
import { generateEntries } from "./entries.ts";
import { generateLayers, randomFrom } from "./layers.ts";
import { cpuOf } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** What the page may weigh at any number of layers, and a search in the 95th percentile, in kB after gzip. */
const pageLimit = 60;
const searchLimit = 50;
/** Files of the index that one changed layer may change. */
const filesLimit = 12;
/** Files that the index may have: 2,000 at 100,000 layers. */
const filesAtLeast = 100;
const filesPerLayer = 0.019;
/** CPU seconds that one changed layer may add to a build of a commit. */
const commitAllowance = 0.1;
/** How long after its answer a PUT may be missing in the index, in milliseconds. */
const stepLimitMs = 1_000;

const searches = 300;
const noFilter = { type: "", host: "", sender: "", health: "", oneTitle: false, view: null };

function constant(figure: number): () => Promise<number> {
	return async () => figure;
}

function kilobytes(text: string | Uint8Array): number {
	return gzipSync(text, { level: 9 }).length / 1_000;
}

/** Searches for one word or two of a title, or the beginning of one, as people type. */
function queriesOf(entries: readonly Entry[]): string[] {
	const random = randomFrom(11);
	return Array.from({ length: searches }, () => {
		const { title } = entries[Math.floor(random() * entries.length)] as Entry;
		const words = titleWords(random() < 0.5 ? title.en : title.fr);
		const some = Array.from(
			{ length: 1 + Math.floor(random() * 2) },
			() => words[Math.floor(random() * words.length)] ?? "",
		);
		return some.map((word) => (random() < 0.3 ? word.slice(0, 4) : word)).join(" ");
	});
}

async function prepareSearch({ layers }: World): Promise<Pair> {
	const entries = [...generateEntries(layers)];
	const files = buildIndex(entries);
	return {
		ours: async () => {
			const weights: number[] = [];
			for (const text of queriesOf(entries)) {
				let read = 0;
				const pieces = new Pieces(async (path) => {
					const file = files.get(path) ?? null;
					// The trees of the cuts come with the first load.
					if (file !== null && !/^index\/\w+\.json$/.test(path)) read += kilobytes(file);
					return file;
				});
				await search(pieces, { ...noFilter, text }, 10);
				weights.push(read);
			}
			return weights.sort((a, b) => a - b)[Math.floor(weights.length * 0.95)] as number;
		},
		reference: constant(searchLimit),
	};
}

/** The page, its scripts and styles, and what it reads of the index before anybody types. */
async function prepareFirstLoad({ layers }: World): Promise<Pair> {
	const files = buildIndex([...generateEntries(layers)]);
	const fragments = fragmentSettings({ metadataUrl: "", catalogueUrl: "" });
	const more = { publicUrl: "", site: plainSettings, version: "0", senderNames: {}, isCompressed: false };
	const site = await buildPages({ fragments, ...more });
	return {
		ours: async () => {
			const loaded = new Set(["en/index.html", "site.json", site.assets.styles]);
			const add = (path: string) => {
				if (loaded.has(path)) return;
				loaded.add(path);
				const text = Buffer.from(site.files.get(path) ?? "").toString("utf8");
				for (const [, name] of text.matchAll(/(?:from|import)\s*"\.\/([^"]+)"/g)) add(`assets/${name}`);
			};
			add(site.assets.script);
			let weight = [...loaded].reduce((sum, path) => sum + kilobytes(site.files.get(path) ?? ""), 0);
			const pieces = new Pieces(async (path) => {
				weight += kilobytes(files.get(path) ?? "");
				return files.get(path) ?? null;
			});
			await pieces.count();
			await search(pieces, { ...noFilter, text: "" }, 10);
			return weight;
		},
		reference: constant(pageLimit),
	};
}

async function prepareIndexFiles({ layers }: World): Promise<Pair> {
	const files = buildIndex([...generateEntries(layers)]);
	return { ours: async () => files.size, reference: constant(filesAtLeast + layers * filesPerLayer) };
}

/** Changes of which the files are counted. */
const countedChanges = 200;

/**
 * Files of the index that differ after one layer's titles have changed, with its commit and its fragments' hashes.
 * @param retitle the titles that one layer has then, and another layer to take words from
 */
function prepareTouched(retitle: (one: Entry, other: Entry) => Entry["title"]) {
	return async ({ layers }: World): Promise<Pair> => {
		const entries = [...generateEntries(layers)];
		const files = buildIndex(entries);
		const random = randomFrom(5);
		const pick = () => entries[Math.floor(random() * entries.length)] as Entry;
		const changed = { commit: "a".repeat(40), date: "2026-05-05T00:00:00Z" };
		return {
			ours: async () => {
				const counts = Array.from({ length: countedChanges }, () => {
					const one = pick();
					const other = { ...one, title: retitle(one, pick()), changed };
					return updateIndex((path) => files.get(path) ?? null, new Map([[one.smallkey, other]])).size;
				});
				return counts.sort((a, b) => a - b)[Math.floor(counts.length * 0.95)] as number;
			},
			reference: constant(filesLimit),
		};
	};
}

async function prepareCommit(world: World): Promise<Pair> {
	const repository = await world.clone(world.layers, "catalogue-commit");
	const outs = { on: world.path("catalogue-on"), off: world.path("catalogue-off") };
	const build = (site: "on" | "off") => {
		const words = ["npm", "run", "-s", "build", "--", "--repo", repository, "--out", outs[site]];
		return cpuOf("env", [`SITE=${site}`, ...words]);
	};
	await build("on");
	await build("off");
	let changes = 0;
	return {
		ours: async () => {
			changes += 1;
			await changeOneLayer(world, repository, changes);
			return build("on");
		},
		reference: async () => (await build("off")) + commitAllowance,
		close: async () => {
			await removeOutput(outs.on);
			await removeOutput(outs.off);
		},
	};
}

async function put(service: Served, name: string): Promise<string> {
	for (const { smallkey, registration } of generateLayers(1)) {
		const en = { ...registration.en, service_name: name };
		const body = Buffer.from(canonicalText({ ...registration, en }));
		const path = `/register/${smallkey}`;
		const timestamp = new Date().toISOString();
		const signature = await sign(service.secret, { path, sender, timestamp, body });
		const headers = { Authorization: signature, Sender: sender, TimeStamp: timestamp };
		const answer = await fetch(service.url + path, { method: "PUT", headers, body });
		if (answer.status === 201) return ((await answer.json()) as { commit: string }).commit;
		throw new Error(`PUT: ${answer.status}`);
	}
	throw new Error("there is no layer");
}

/** The commit that the index of a service on the disk is of; empty while there is none. */
export async function commitIn(service: Served): Promise<string> {
	const text = await readFile(join(service.dataDir, "dist/changes/index.json"), "utf8").catch(() => "{}");
	return (JSON.parse(text) as { commit?: string }).commit ?? "";
}

async function untilInStep(service: Served, commit: string, limitMs: number): Promise<number> {
	const start = performance.now();
	while ((await commitIn(service)) !== commit) {
		if (performance.now() - start > limitMs) throw new Error(`the index has no ${commit}`);
		await new Promise((resolve) => setTimeout(resolve, 5));
	}
	return performance.now() - start;
}

async function prepareInStep(world: World): Promise<Pair> {
	const service = await world.serve(world.layers, "catalogue-step", "on");
	await untilInStep(service, await put(service, "first"), 600_000);
	let puts = 0;
	return {
		ours: async () => {
			puts += 1;
			return untilInStep(service, await put(service, `put ${puts}`), 60_000);
		},
		reference: constant(stepLimitMs),
		close: async () => {
			await service.stop();
			await world.remove("catalogue-step");
		},
	};
}

/** Rows about the catalogue. */
export const catalogueRows: Row[] = [
	{
		name: "catalogue-search",
		ours: `what a search of one or two words reads, 95th percentile of ${searches}, gzip`,
		reference: "the limit",
		unit: "kB",
		reach: { of: "ratio", most: 1 },
		prepare: prepareSearch,
	},
	{
		name: "catalogue-load",
		ours: "first load of the page with what it reads of the index, gzip",
		reference: "the limit",
		unit: "kB",
		reach: { of: "ratio", most: 1 },
		prepare: prepareFirstLoad,
	},
	{
		name: "catalogue-files",
		ours: "files of the index",
		reference: "the limit: 2,000 at 100,000 layers",
		unit: "files",
		reach: { of: "ratio", most: 1 },
		prepare: prepareIndexFiles,
	},
	{
		name: "catalogue-touched",
		ours: `files of the index that one more word in a title changes, 95th percentile of ${countedChanges}`,
		reference: "the limit",
		unit: "files",
		reach: { of: "ratio", most: 1 },
		prepare: prepareTouched(({ title }) => ({ en: `${title.en} renewed`, fr: title.fr })),
	},
	{
		name: "catalogue-retitled",
		ours: `files of the index that change with every word of both titles, 95th percentile of ${countedChanges}`,
		reference: "the limit",
		unit: "files",
		reach: { of: "ratio", most: 1 },
		prepare: prepareTouched((_, { title }) => title),
	},
	{
		name: "catalogue-commit",
		ours: "build of a commit after one layer changed, with the catalogue, CPU",
		reference: `the same without, plus ${commitAllowance} s`,
		unit: "s",
		reach: { of: "ratio", most: 1 },
		prepare: prepareCommit,
	},
	{
		name: "catalogue-step",
		ours: "from the answer of a PUT until the index on the disk has it",
		reference: "the limit",
		unit: "ms",
		reach: { of: "ratio", most: 1 },
		prepare: prepareInStep,
	},
];
