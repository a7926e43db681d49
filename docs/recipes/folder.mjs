import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { registrationsOf } from "./links.mjs";

/** A name that `register` refuses: so it never reads a folder that is only half written. */
const unfinished = "UNFINISHED";

/**
 * Brings a folder in step with a catalogue, and prints what has changed, what is left out and why. All is read before
 * anything is written. `<folder>.state.json` remembers which files are the recipe's own.
 * @param source what the folder is made from: the words of the command
 * @param read returns all data sets: `links`, `titleIn`, `metadata`
 * @throws a sentence
 */
export async function updateFolder(folder, source, read) {
	const before = await readState(folder, source);
	const datasets = await read();
	if (datasets.length === 0) throw new Error(`no data set matches ${source}`);
	const results = datasets.map(registrationsOf);
	const layers = Object.assign({}, ...results.map((result) => result.layers));
	const counts = await write(folder, source, before, layers);
	const leftOut = results.flatMap((result) => result.leftOut);
	for (const [word, smallkeys] of Object.entries(counts))
		for (const smallkey of smallkeys) console.log(`${word} ${smallkey}`);
	for (const line of leftOut) console.log(`left out ${line}`);
	const { added, changed, removed } = counts;
	console.log(
		`${datasets.length} data sets: ${Object.keys(layers).length} layers, ${added.length} added, ${changed.length} changed, ${removed.length} removed; ${leftOut.length} links left out`,
	);
}

/** @param before the recipe's own smallkeys @returns the smallkeys that were added, changed and removed */
async function write(folder, source, before, layers) {
	const counts = { added: [], changed: [], removed: [] };
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, unfinished), "Run the recipe again: this folder is not complete.\n");
	const smallkeys = Object.keys(layers);
	// If this run ends here, the next one still knows which files are its own.
	await saveState(folder, { source, smallkeys: [...new Set([...before, ...smallkeys])] });
	for (const [smallkey, registration] of Object.entries(layers)) {
		const path = join(folder, `${smallkey}.json`);
		const text = `${JSON.stringify(registration, null, 2)}\n`;
		const old = await readFile(path, "utf8").catch(() => null);
		if (old === text) continue;
		await writeFile(path, text);
		counts[old === null ? "added" : "changed"].push(smallkey);
	}
	for (const smallkey of before.filter((key) => !Object.hasOwn(layers, key))) {
		await rm(join(folder, `${smallkey}.json`), { force: true });
		counts.removed.push(smallkey);
	}
	await saveState(folder, { source, smallkeys });
	await rm(join(folder, unfinished));
	return counts;
}

const statePath = (folder) => `${resolve(folder)}.state.json`;

async function saveState(folder, state) {
	const path = statePath(folder);
	await writeFile(`${path}.new`, `${JSON.stringify(state, null, 1)}\n`);
	await rename(`${path}.new`, path);
}

/** The recipe's own smallkeys. @throws a sentence if the folder has files of something else than this command */
async function readState(folder, source) {
	const text = await readFile(statePath(folder), "utf8").catch(() => null);
	if (text === null) {
		const files = await layerFiles(folder);
		if (files.length === 0) return [];
		throw new Error(`${folder}: has ${files.length} layers that are not from this recipe; use a new folder`);
	}
	const state = parseState(text);
	if (!Array.isArray(state?.smallkeys))
		throw new Error(`${statePath(folder)}: cannot be read; remove it and ${folder}`);
	if (state.source !== source)
		throw new Error(`${folder}: was made from ${state.source}; use a new folder for ${source}`);
	return state.smallkeys;
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
