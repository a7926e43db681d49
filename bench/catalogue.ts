import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { sign } from "../api/signature.ts";
import { buildCatalogue, catalogueFiles } from "../catalogue/catalogue.ts";
import type { CommitChanges } from "../catalogue/changes.ts";
import { Index } from "../catalogue/chunks.ts";
import { buildPages } from "../catalogue/site.ts";
import { fragmentSettings } from "../publish/slots.ts";
import { canonicalText } from "../registry/canonical.ts";
import type { Entry } from "../registry/entries.ts";
import { plainSettings } from "../site/page/settings.ts";
import { changeOneLayer, removeOutput } from "./builds.ts";
import { generateEntries } from "./entries.ts";
import { generateLayers, randomFrom } from "./layers.ts";
import { cpuOf } from "./measure/process.ts";
import type { Pair, Row } from "./measure/row.ts";
import { type Served, sender, type World } from "./measure/world.ts";

/** What the page may weigh without the entries, in kB after gzip. */
const pageLimit = 60;
/** What the entries of a layer may weigh, in bytes after gzip. */
const bytesPerLayer = 100;
/** CPU milliseconds that a change of one layer may take. */
const changeLimitMs = 300;
/** CPU seconds that one changed layer may add to a build of a commit. */
const commitAllowance = 0.1;
/** How long after its answer a PUT may be missing in the index, in milliseconds. */
const stepLimitMs = 1_000;

function constant(figure: number): () => Promise<number> {
	return async () => figure;
}

function kilobytes(text: string | Uint8Array): number {
	return gzipSync(text, { level: 9 }).length / 1_000;
}

/** All that a page reads of the index: the manifest and every chunk. */
async function prepareEntries({ layers }: World): Promise<Pair> {
	const entries = new Map([...generateEntries(layers)].map((entry) => [entry.smallkey, entry]));
	const { files } = new Index(null).change(entries, "a".repeat(40));
	const weight = [...files.values()].reduce((sum, text) => sum + kilobytes(text ?? ""), 0);
	return { ours: constant(weight), reference: constant((layers * bytesPerLayer) / 1_000) };
}

/** The page, its scripts and styles, without what it reads of the index. */
async function prepareFirstLoad(): Promise<Pair> {
	const fragments = fragmentSettings({ metadataUrl: "", catalogueUrl: "" });
	const more = {
		publicUrl: "",
		site: plainSettings,
		version: "0",
		senderNames: {},
		isCompressed: false,
		pictures: null,
	};
	const site = await buildPages({ fragments, ...more, isServed: true });
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
			return [...loaded].reduce((sum, path) => sum + kilobytes(site.files.get(path) ?? ""), 0);
		},
		reference: constant(pageLimit),
	};
}

/** Changes that are made, each on the files that the one before left. */
const changes = 20;

/** CPU of the catalogue's own work for one changed layer, the slowest of some: files are read, made and compressed. */
async function prepareChange({ layers }: World): Promise<Pair> {
	const entries = [...generateEntries(layers)];
	const settings = { pages: null, isServed: true, publicUrl: "", commit: null, owners: () => ["@org/team"] };
	const commit = (at: number, smallkey: string): CommitChanges => ({
		commit: at.toString(16).padStart(40, "0"),
		date: "2026-05-05T00:00:00Z",
		layers: [{ smallkey, kind: "changed" }],
	});
	const files = buildCatalogue(entries, [commit(0, "first")], settings);
	const random = randomFrom(5);
	let at = 0;
	return {
		ours: async () => {
			let slowest = 0;
			for (let change = 0; change < changes; change += 1) {
				const one = entries[Math.floor(random() * entries.length)] as Entry;
				at += 1;
				const changed = { ...one, title: { ...one.title, en: `${one.title.en} ${at}` } };
				const start = process.cpuUsage();
				const written = catalogueFiles(
					(path) => files.get(path) ?? null,
					{ layers: new Map([[one.smallkey, changed]]), history: [commit(at, one.smallkey)] },
					settings,
				);
				for (const text of written.values()) if (text) gzipSync(text, { level: 6 });
				const { user, system } = process.cpuUsage(start);
				slowest = Math.max(slowest, (user + system) / 1_000);
				for (const [path, text] of written) files.set(path, text);
			}
			return slowest;
		},
		reference: constant(changeLimitMs),
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
		name: "catalogue-entries",
		ours: "all entries of the catalogue with their manifest, gzip",
		reference: `the limit: ${bytesPerLayer} bytes a layer`,
		unit: "kB",
		reach: { of: "ratio", most: 1 },
		prepare: prepareEntries,
	},
	{
		name: "catalogue-load",
		ours: "first load of the page without the entries, gzip",
		reference: "the limit",
		unit: "kB",
		reach: { of: "ratio", most: 1 },
		prepare: prepareFirstLoad,
	},
	{
		name: "catalogue-change",
		ours: `a change of one layer in the catalogue's files, CPU, slowest of ${changes}`,
		reference: "the limit",
		unit: "ms",
		reach: { of: "ratio", most: 1 },
		prepare: prepareChange,
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
