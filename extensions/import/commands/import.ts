// npx fragment-publisher import and compare: import the layers of an older service, and compare the two
import { existsSync } from "node:fs";
import { WrongError } from "../../../api/configuration.ts";
import { repositoryPath } from "../../../api/service/data-dir.ts";
import { servedRef } from "../../../api/service/repository.ts";
import { changeSenders, sendersPath } from "../../../api/service/senders-file.ts";
import { readConfiguration, withoutStore } from "../../../api/service/settings.ts";
import { progress } from "../../../publish/build.ts";
import { isSenderId } from "../../../registry/sender.ts";
import { parseLayerPath, parseSmallkey } from "../../../registry/smallkey.ts";
import { textsOf } from "../../../registry/texts.ts";
import { counted, plain } from "../../../registry/untrusted-text.ts";
import { readKeys } from "../../../scripts/put.ts";
import { checkSender, createRun, exitCodes, parseUrl } from "../../../scripts/terminal/command-line.ts";
import { readTextIfThere } from "../../../store/files/files.ts";
import { listTree } from "../../../store/git/commands/tree.ts";
import { isRefusal } from "../../../store/store.ts";
import { comparedTargets, compareServices, reportLines, row } from "../compare/compare.ts";
import { type Json, objectOf, textOf } from "../compare/differences.ts";
import { DumpError, keyOf, type NotMoved, readDump, readDumpFile, shortened } from "../document.ts";
import { collectMoves, type Moves, type Stored, storeLayers } from "../store-layers.ts";

async function readRecords(path: string, maxBytes?: number) {
	try {
		return readDump(await readDumpFile(path, maxBytes));
	} catch (error) {
		if (error instanceof DumpError) throw new WrongError(`${path}: ${error.message}; nothing was written`);
		throw error;
	}
}

const maxSendersBytes = 10_000_000;

/**
 * Reads the senders of a dump (`{_id, key}`). A sender that this service has keeps its secret here. A reason never contains
 * a secret.
 * @returns `added`: id → secret of each new sender; `same`: number of senders that this service has with the same secret
 */
async function readSendersDump(path: string, dataDir: string) {
	const text = (await readTextIfThere(sendersPath(dataDir))) ?? "{}";
	const owners = new Map<string, string>();
	for (const [id, entry] of Object.entries(JSON.parse(text)))
		owners.set(textOf(objectOf(entry).key ?? entry), id);
	const senders = new Set(owners.values());
	const moved = { added: new Map<string, string>(), same: 0, notMoved: [] as NotMoved[] };
	const add = ({ _id, key }: Json, place: number) => {
		const [id, secret] = [textOf(_id), textOf(key)];
		const owner = owners.get(secret);
		const refuse = (reason: string) => moved.notMoved.push({ key: shortened(id), reason, place });
		if (!isSenderId(id)) refuse("a sender's id must be 1 to 64 of A-Z a-z 0-9 . _ -");
		else if (secret === "") refuse("has no key");
		else if (owner === id) moved.same += 1;
		else if (senders.has(id)) refuse("is a sender here, with another secret: left as it is");
		else if (owner !== undefined) refuse(`has the same secret as ${owner}`);
		else {
			senders.add(id);
			owners.set(secret, id);
			moved.added.set(id, secret);
		}
	};
	for (const { document, place } of await readRecords(path, maxSendersBytes)) add(document, place);
	return moved;
}

function summaryLines(moves: Moves, stored: Stored, isTrial: boolean): string[] {
	const { commit } = stored;
	const layers = [...moves.layers.values()];
	const typeOf = ({ registration }: (typeof layers)[number]) =>
		"payload_type" in registration ? registration.payload_type : "of version 2.0";
	const types = ["feature", "of version 2.0", "wms"].flatMap((type) => {
		const count = layers.filter((layer) => typeOf(layer) === type).length;
		return count > 0 ? `${count} ${type}` : [];
	});
	const described = layers.filter(({ description }) => description !== null).length;
	return [
		row(moves.documents, "documents read"),
		row(layers.length - stored.notMoved.length, `layers: ${types.join(", ") || "none"}`),
		row(described, "of them with what the older service knew of their services"),
		row(moves.notMoved.length + stored.notMoved.length, "not moved"),
		"",
		row(stored.added, isTrial ? "would be registered" : "registered"),
		row(stored.changed, isTrial ? "would be changed" : "changed"),
		row(stored.same, "stored already"),
		...(commit?.changed ? ["", `commit ${commit.commit}`] : []),
		...(commit?.changed && commit.pullRequest ? [`pull request ${commit.pullRequest}`] : []),
	];
}

/** From a list, or from a dump of the older service's database. @throws {Error} as `readKeys` does */
async function readKeysOrDump(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readDumpFile(path);
	if (!/^\ufeff?\s*[[{]/.test(bytes.toString("utf8", 0, 64))) return readKeys(path, warn);
	const keys = readDump(bytes).map(({ document }) => parseSmallkey(keyOf(document)));
	return [...new Set(keys.filter((key) => key !== null))];
}

const importHelp = `
A dump is {"docs":[…]}, or the answer of _all_docs?include_docs=true.
Writes to GITHUB_REPOSITORY where that is set, else to the repository in DATA_DIR, on which no service may run.
What cannot be moved is listed with its reason and place, keeps nothing else back, and ends the import with 1. Importing again changes nothing.`;

const importDump = createRun("import", async ({ read, environment, io }) => {
	const [{ senders: sendersDump, sender, dryRun, partial }, dump] = await read((line) =>
		line
			.argument("<dump>", "its layers")
			.option("--senders <file>", "its senders, in the same form: added to the senders file of DATA_DIR")
			.option("--dry-run", "only say what would be done", false)
			.option("--partial", "end with 0 although some documents cannot be moved", false)
			.option("--sender <id>", "who the commit names as its author", "import")
			.addHelpText("after", importHelp),
	);
	checkSender(sender);
	const configuration = readConfiguration(environment);
	const { dataDir } = configuration;
	// Both files are read completely before anything is written.
	const senders = sendersDump === undefined ? null : await readSendersDump(sendersDump, dataDir);
	const moves = collectMoves(await readRecords(dump), configuration);
	const author = dryRun ? null : { sender, time: io.now().getTime() };
	const stored = await storeLayers(moves.layers, configuration, author);
	if (isRefusal(stored)) {
		for (const error of textsOf(stored.errors)) io.warn(plain(error));
		return exitCodes.wrong;
	}
	if (senders && !dryRun) {
		// The senders file may have changed since it was read. Its senders stay first and as they are.
		const added = Object.fromEntries(senders.added);
		await changeSenders(dataDir, (entries) => ({ ...entries, ...added, ...entries }));
	}

	const printNotMoved = (what: string, { key, reason, place }: NotMoved, file?: string) =>
		io.warn(`not moved: ${what}${plain(key)}: ${plain(reason)} (document ${place} of ${file})`);
	const notMoved = [...moves.notMoved, ...stored.notMoved];
	for (const layer of notMoved) printNotMoved("", { ...layer, key: layer.key || '""' }, dump);
	for (const text of summaryLines(moves, stored, dryRun)) io.print(text);
	if (senders) {
		for (const account of senders.notMoved) printNotMoved("sender ", account, sendersDump);
		const verb = dryRun ? "would be added" : "added";
		const there = `${senders.same} there already, ${senders.notMoved.length} not moved`;
		io.print(`\n${counted(senders.added.size, "sender")} ${verb} to ${sendersPath(dataDir)}, ${there}`);
	}
	const left = notMoved.length + (senders?.notMoved.length ?? 0);
	if (left > 0 && !partial)
		throw new WrongError(`${counted(left, "document")} could not be moved; --partial says that this is fine`);
});

const compareHelp = `
An address is the part before /v1/docs/… or /v2/docs/…; nothing is written to either service.
Without --keys the layers of the repository in DATA_DIR are read.
Ends with 1 where a viewer would draw or ask a layer otherwise, or it is missing, or the older service cannot serve it.`;

/** @throws {Error} if the data folder has no repository */
async function readStored(dataDir: string): Promise<string[]> {
	const repository = repositoryPath(dataDir);
	if (!existsSync(repository)) throw new Error(`--keys: is needed: there is no repository at ${repository}`);
	const names = (await listTree(repository, servedRef, "layers")).map(({ path }) => parseLayerPath(path));
	return names.flatMap((name) => (name?.kind === "registration" ? [name.smallkey] : []));
}

const compare = createRun("compare", async ({ read, environment, io }) => {
	const [{ keys: path, all }, old, now] = await read((line) =>
		line
			.argument("<old>", "the older service, such as http://rcs.example", parseUrl)
			.argument("<new>", "this one, with its base path", parseUrl)
			.option("--keys <file>", "a file of smallkeys with spaces, commas or lines between them, or the dump")
			.option("--all", "name all smallkeys of each kind, not three of them", false)
			.addHelpText("after", compareHelp),
	);
	const { dataDir } = readConfiguration(withoutStore(environment));
	const smallkeys = path === undefined ? await readStored(dataDir) : await readKeysOrDump(path, io.warn);
	if (smallkeys.length === 0) throw new Error(`${path ?? dataDir}: holds no smallkeys to compare`);
	io.warn(`Comparing ${counted(smallkeys.length, "layer")} of ${old} with ${now}`);
	const bar = progress(smallkeys.length * comparedTargets.length * 2, "comparing");
	const comparing = compareServices(old, now, smallkeys, bar.tick);
	const comparison = await comparing.finally(() => bar.stop());
	for (const text of reportLines(comparison, smallkeys, all)) io.print(plain(text));
	const isSame = comparison.findings.every((finding) => finding.class === "cosmetic");
	return isSame ? exitCodes.done : exitCodes.wrong;
});

export const runs = { import: importDump, compare };
