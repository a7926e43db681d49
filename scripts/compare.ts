// npx fragments compare: shows the differences of the same layers on two services (docs/moving.md)
import { existsSync } from "node:fs";
import { runGit } from "../git/run.ts";
import { compareServices, reportLines } from "../migrate/compare/compare.ts";
import { comparedTargets, ReadService } from "../migrate/compare/service.ts";
import { keyOf } from "../migrate/import/document.ts";
import { readDump, readDumpFile } from "../migrate/import/dump.ts";
import { parseLayerPath, parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { repositoryPath } from "../service/open-store.ts";
import { readConfiguration, withoutStore } from "../service/settings.ts";
import { createCommandLine, createRun, exitCodes, parseUrl } from "../terminal/command-line.ts";
import { printError, printLine } from "../terminal/io.ts";
import { counted, plain } from "../terminal/plain.ts";
import { progress } from "../terminal/progress.ts";

const help = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Without --keys the layers of the repository in DATA_DIR are read.
Ends with 1 where a viewer would draw or ask a layer otherwise.`;

/**
 * Reads smallkeys from a list, with white space or commas between them, or from a dump of the older service's database.
 * @throws {Error} that names the first invalid smallkey of a list
 */
async function readKeys(path: string): Promise<string[]> {
	const bytes = await readDumpFile(path);
	if (/^\ufeff?\s*[[{]/.test(bytes.toString("utf8", 0, 64))) {
		const documents = [...readDump(bytes)].flatMap((entry) => ("document" in entry ? [entry.document] : []));
		return [...new Set(documents.map((one) => parseSmallkey(keyOf(one))).filter((key) => key !== null))];
	}
	const items = bytes
		.toString("utf8")
		.split(/[\s,]+/)
		.filter(Boolean);
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}

/** Reads the smallkeys of the repository in a data folder. @throws {Error} if there is no repository */
async function readStored(dataDir: string): Promise<string[]> {
	const repository = repositoryPath(dataDir);
	if (!existsSync(repository)) throw new Error(`--keys: is needed: there is no repository at ${repository}`);
	const words = ["ls-tree", "-r", "-z", "--name-only", "refs/heads/main", "--", "layers"];
	const paths = (await runGit(repository, words)).toString("utf8").split("\0");
	const names = paths.map(parseLayerPath).filter((name) => name !== null);
	return names.filter(({ kind }) => kind === "registration").map(({ smallkey }) => smallkey);
}

export const run = createRun(async (argv, environment, io) => {
	const line = createCommandLine("compare", io)
		.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
		.argument("<new>", "this one, with its base path", parseUrl)
		.option("--keys <file>", "a file of smallkeys with spaces, commas or lines between them, or the dump")
		.option("--all", "name all smallkeys of each kind, not three of them", false)
		.addHelpText("after", help)
		.parse(argv, { from: "user" });
	const [old, now] = line.processedArgs;
	const { keys: path, all } = line.opts();
	const { dataDir } = readConfiguration(withoutStore(environment));
	const smallkeys = path === undefined ? await readStored(dataDir) : await readKeys(path);
	if (smallkeys.length === 0) throw new Error(`${path ?? dataDir}: holds no smallkeys to compare`);
	printError(io, `Comparing ${counted(smallkeys.length, "layer")} of ${old} with ${now}`);
	const bar = progress(smallkeys.length * comparedTargets.length * 2, "comparing");
	const comparing = compareServices(new ReadService(old), new ReadService(now), smallkeys, bar.tick);
	const comparison = await comparing.finally(() => bar.stop());
	for (const text of reportLines(comparison, smallkeys, all)) printLine(io, plain(text));
	const isRelevant = comparison.findings.some((finding) => finding.class === "relevant");
	return isRelevant ? exitCodes.wrong : exitCodes.done;
});
