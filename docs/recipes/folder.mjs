import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import { registrationsOf } from "./links.mjs";
import { tryJson } from "./texts.mjs";

/** A name that `register` refuses: so it never reads a folder that is only half written. */
const unfinished = "UNFINISHED";

/**
 * Brings a folder in step with a catalogue, as the words of the command say, and prints what has changed, what is left out
 * and why. All is read before anything is written. `<folder>.state.json` remembers which layers are the recipe's own. An
 * error becomes one sentence and exit code 1.
 * @param search returns all data sets of a catalogue that match a filter
 * @param partsOf returns the `links`, `titleIn` and `metadata` of a data set
 */
export async function runRecipe(search, partsOf) {
	try {
		const [catalogue = "", filter, folder, prefix = ""] = process.argv.slice(2);
		if (!folder)
			throw new Error(
				`usage: node ${basename(process.argv[1])} <catalogue> <filter> <folder> [<prefix of smallkeys>]`,
			);
		if (!/^https?:\/\/./i.test(catalogue)) throw new Error(`${catalogue}: is no http address of a catalogue`);
		await updateFolder(folder, catalogue.replace(/\/+$/, ""), filter, prefix, search, partsOf);
	} catch ({ message }) {
		console.error(message);
		process.exitCode = 1;
	}
}

async function updateFolder(folder, catalogue, filter, prefix, search, partsOf) {
	const source = `${catalogue} ${filter} ${prefix}`;
	const before = await readOwnKeys(folder, source);
	const datasets = await search(catalogue, filter);
	if (datasets.length === 0) throw new Error(`no data set matches ${source}`);
	const results = datasets.map((dataset) => registrationsOf(partsOf(dataset, prefix, catalogue)));
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
	const state = tryJson(text);
	if (state?.source !== source)
		throw new Error(`${folder}: was made from ${state?.source}; use a new folder for ${source}`);
	return state.smallkeys;
}
