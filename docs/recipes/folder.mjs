import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { registrationsOf } from "./links.mjs";

/** A name that `register` refuses: so it never reads a folder that is only half written. */
const unfinished = "UNFINISHED";

/**
 * Brings a folder in step with a catalogue, and prints what has changed, what is left out and why. All is read before
 * anything is written. `<folder>.state.json` remembers which layers are the recipe's own.
 * @param source what the folder is made from: the words of the command
 * @param read returns all data sets: `links`, `titleIn`, `metadata`
 * @throws a sentence
 */
export async function updateFolder(folder, source, read) {
	const before = await readOwnKeys(folder, source);
	const results = (await read()).map(registrationsOf);
	if (results.length === 0) throw new Error(`no data set matches ${source}`);
	const layers = Object.fromEntries(results.flatMap((result) => Object.entries(result.layers)));
	const changes = await write(folder, source, before, layers);
	for (const [word, smallkeys] of Object.entries(changes))
		for (const smallkey of smallkeys) console.log(`${word} ${smallkey}`);
	const leftOut = results.flatMap((result) => result.leftOut);
	for (const line of leftOut) console.log(`left out ${line}`);
	const counts = Object.entries(changes).map(([word, { length }]) => `${length} ${word}`);
	console.log(
		`${results.length} data sets: ${Object.keys(layers).length} layers, ${counts.join(", ")}; ${leftOut.length} links left out`,
	);
}

/** @returns the smallkeys that were added, changed and removed */
async function write(folder, source, before, layers) {
	const changes = { added: [], changed: [], removed: [] };
	const smallkeys = Object.keys(layers);
	await mkdir(folder, { recursive: true });
	await writeFile(join(folder, unfinished), "Run the recipe again: this folder is not complete.\n");
	// If this run ends here, the next one still knows which files are its own.
	await saveState(folder, { source, smallkeys: [...new Set([...before, ...smallkeys])] });
	for (const [smallkey, registration] of Object.entries(layers)) {
		const path = join(folder, `${smallkey}.json`);
		const text = `${JSON.stringify(registration, null, 2)}\n`;
		const old = await readFile(path, "utf8").catch(() => null);
		if (old === text) continue;
		await writeFile(path, text);
		changes[old === null ? "added" : "changed"].push(smallkey);
	}
	for (const smallkey of before.filter((key) => !Object.hasOwn(layers, key))) {
		await rm(join(folder, `${smallkey}.json`), { force: true });
		changes.removed.push(smallkey);
	}
	await saveState(folder, { source, smallkeys });
	await rm(join(folder, unfinished));
	return changes;
}

const statePath = (folder) => `${resolve(folder)}.state.json`;

async function saveState(folder, state) {
	const path = statePath(folder);
	await writeFile(`${path}.new`, `${JSON.stringify(state, null, 1)}\n`);
	await rename(`${path}.new`, path);
}

/** The layers that earlier runs have written. @throws a sentence if the folder has files of something else */
async function readOwnKeys(folder, source) {
	const text = await readFile(statePath(folder), "utf8").catch(() => null);
	if (text === null) {
		const names = await readdir(folder).catch(() => []);
		const { length } = names.filter((name) => name.endsWith(".json"));
		if (length === 0) return [];
		throw new Error(`${folder}: has ${length} layers that are not from this recipe; use a new folder`);
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
