import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { registrationsOf } from "./links.mjs";

/** More changed data sets than this are read with all others. */
const maxIds = 50;

/** A name that `register` refuses: so it never reads a folder that is only half written. */
const unfinished = "UNFINISHED";

/**
 * Brings a folder in step with a catalogue, and prints what has changed, what is left out and why. All is read before
 * anything is written. `<folder>.state.json` remembers the data sets, so that the next run reads only what has changed.
 * @param source what the folder is made from: the words of the command
 * @param list returns `id` and `date` of the last change of all data sets
 * @param read returns the data sets of a list of ids, or all: `id`, `links`, `titleIn`, `metadata`
 * @throws a sentence
 */
export async function updateFolder(folder, source, { list, read }) {
	const before = await readState(folder, source);
	const files = new Set(await layerFiles(folder));
	const listed = await list();
	if (listed.length === 0) throw new Error(`no data set matches ${source}`);
	const isUnchanged = ({ id, date }) => {
		const { date: dateBefore, smallkeys = [] } = before.datasets[id] ?? {};
		return date && date === dateBefore && smallkeys.every((smallkey) => files.has(`${smallkey}.json`));
	};
	const changed = listed.filter((dataset) => !isUnchanged(dataset)).map(({ id }) => id);
	const answers = changed.length === 0 ? [] : await read(changed.length > maxIds ? undefined : changed);
	const results = new Map(answers.map((dataset) => [dataset.id, registrationsOf(dataset)]));
	const gone = changed.find((id) => !results.has(id));
	if (gone) throw new Error(`${gone}: left the catalogue while it was read; run this again`);
	const [layers, datasets] = [{}, {}];
	for (const { id, date } of listed) {
		const result = results.get(id);
		Object.assign(layers, result?.layers);
		const { smallkeys, leftOut } = result
			? { smallkeys: Object.keys(result.layers), leftOut: result.leftOut }
			: before.datasets[id];
		datasets[id] = { date, smallkeys, leftOut };
	}
	const after = { source, datasets };
	report(after, changed.length, await write(folder, before, after, layers));
}

/** @returns the smallkeys that were added, changed and removed */
async function write(folder, before, after, layers) {
	const counts = { added: [], changed: [], removed: [] };
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, unfinished), "Run the recipe again: this folder is not complete.\n");
	const smallkeys = smallkeysOf(after);
	// If this run ends here, the next one still knows which files are its own, and reads everything.
	await saveState(folder, {
		source: after.source,
		datasets: { "": { smallkeys: [...smallkeysOf(before), ...smallkeys] } },
	});
	for (const [smallkey, registration] of Object.entries(layers)) {
		const path = join(folder, `${smallkey}.json`);
		const text = `${JSON.stringify(registration, null, 2)}\n`;
		const old = await readFile(path, "utf8").catch(() => null);
		if (old === text) continue;
		await writeFile(path, text);
		counts[old === null ? "added" : "changed"].push(smallkey);
	}
	for (const smallkey of smallkeysOf(before)) {
		if (smallkeys.has(smallkey)) continue;
		await rm(join(folder, `${smallkey}.json`), { force: true });
		counts.removed.push(smallkey);
	}
	await saveState(folder, after);
	await rm(join(folder, unfinished));
	return counts;
}

function report({ datasets }, read, counts) {
	const all = Object.values(datasets);
	const leftOut = all.flatMap((dataset) => dataset.leftOut);
	const layers = all.flatMap((dataset) => dataset.smallkeys).length;
	for (const [word, smallkeys] of Object.entries(counts))
		for (const smallkey of smallkeys) console.log(`${word} ${smallkey}`);
	for (const line of leftOut) console.log(`left out ${line}`);
	const { added, changed, removed } = counts;
	console.log(
		`${all.length} data sets (${read} new or changed): ${layers} layers, ${added.length} added, ${changed.length} changed, ${removed.length} removed; ${leftOut.length} links left out`,
	);
}

function smallkeysOf({ datasets }) {
	return new Set(Object.values(datasets).flatMap(({ smallkeys }) => smallkeys));
}

const statePath = (folder) => `${resolve(folder)}.state.json`;

async function saveState(folder, state) {
	const path = statePath(folder);
	await writeFile(`${path}.new`, `${JSON.stringify(state, null, 1)}\n`);
	await rename(`${path}.new`, path);
}

/** @throws a sentence if the folder has files of something else than this command */
async function readState(folder, source) {
	const text = await readFile(statePath(folder), "utf8").catch(() => null);
	if (text === null) {
		const files = await layerFiles(folder);
		if (files.length === 0) return { source, datasets: {} };
		throw new Error(`${folder}: has ${files.length} layers that are not from this recipe; use a new folder`);
	}
	const state = parseState(text);
	if (!state) throw new Error(`${statePath(folder)}: cannot be read; remove it and ${folder}`);
	if (state.source !== source)
		throw new Error(`${folder}: was made from ${state.source}; use a new folder for ${source}`);
	return state;
}

function parseState(text) {
	try {
		return JSON.parse(text);
	} catch {
		return null;
	}
}

async function layerFiles(folder) {
	const names = await readdir(folder).catch(() => []);
	return names.filter((name) => name.endsWith(".json"));
}
