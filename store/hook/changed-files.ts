import { readBlobs, readSizes } from "../../git/blobs.ts";
import { CatFile } from "../../git/cat-file.ts";
import { runGit } from "../../git/run.ts";
import { diffTree, kindOfMode, type PathChange } from "../../git/tree.ts";
import { limitOf } from "../../publish/collect.ts";
import {
	checkDescriptionFile,
	checkRegistrationFile,
	isOtherFile,
	type LayerFile,
	type LayerName,
	orphanText,
	parseLayerPath,
	twinText,
} from "../../registry/catalogue.ts";
import { visible } from "../../registry/markdown.ts";
import { ownersPath, parseOwners } from "../../registry/owners.ts";
import { descriptionPath, folderOf, layerPath, parseSmallkey } from "../../registry/smallkey.ts";
import { warningsOf } from "../../registry/warnings.ts";
import { CommitFolders } from "../git/reader.ts";
import { Findings } from "./findings.ts";

/** Files that one push may change. */
const maxFiles = 500_000;

/** Largest file that is no layer's, in bytes: every clone carries it for ever. */
const maxOtherBytes = 1024 * 1024;

/** What a push would change on the branch that is served. */
export interface Judged {
	/** Number of changed files of layers. */
	layerFiles: number;
	problems: Findings;
	/** What is odd, and accepted. */
	warnings: Findings;
}

/**
 * Judges the files that differ between two commits, and no others: by the rules of what is written, as a PUT and a
 * pull request are.
 * @param from the commit that the branch stands at; null where there is no branch
 */
export async function judgeFiles(repository: string, from: string | null, to: string): Promise<Judged> {
	const judged: Judged = { layerFiles: 0, problems: new Findings(), warnings: new Findings() };
	const changes = await diffTree(repository, from ?? (await emptyTree(repository)), to, ":/", maxFiles);
	if (!changes) {
		judged.problems.add({ file: "main", text: `more than ${maxFiles} files are changed: push it in parts` });
		return judged;
	}
	const layers: NamedChange[] = [];
	for (const change of changes) {
		const name = parsePlace(change, judged);
		if (name) layers.push({ ...change, name });
	}
	judged.layerFiles = layers.length;
	await Promise.all([
		judgeNames(repository, to, layers, judged.problems),
		judgeContents(repository, changes, judged),
	]);
	return judged;
}

/** A changed file of a layer. */
interface NamedChange extends PathChange {
	name: LayerName;
}

/** The id of the tree without files, in the repository's own kind of ids. */
async function emptyTree(repository: string): Promise<string> {
	const output = await runGit(repository, ["hash-object", "-t", "tree", "--stdin"], { input: "" });
	return output.toString("latin1").trim();
}

/** Judges where a changed file is and what it is called; the layer's file that it is, or null. */
function parsePlace({ path, mode }: PathChange, { problems, warnings }: Judged): LayerName | null {
	const refuse = (text: string) => problems.add({ file: path, text });
	if (path === ownersPath && mode === null) refuse("must not be removed");
	if (isOtherFile(path)) return null;
	const [folder = ""] = path.split("/", 1);
	if (folder === "layers" && path !== "layers") {
		const name = parseLayerPath(path);
		if (typeof name !== "string") return name;
		if (mode !== null) refuse(name);
		return null;
	}
	if (mode === null) return null;
	if (path === "layers") refuse("must be a folder");
	else if (folder.toLowerCase() === "layers") refuse("must be in layers, in lower case");
	else if (visible(path) !== path || /[\ufffd\\]/.test(path))
		refuse("must have a name of visible characters");
	else if (path.endsWith(".json"))
		warnings.add({ file: path, text: "is kept, but no layer: layers/ has those" });
	return null;
}

/** Judges the names of layers against all that are there: their twins, and descriptions without a registration. */
async function judgeNames(
	repository: string,
	to: string,
	layers: readonly NamedChange[],
	problems: Findings,
): Promise<void> {
	const catFile = new CatFile(repository);
	const folders = new CommitFolders(catFile, to);
	const groups = new Map<string, NamedChange[]>();
	for (const layer of layers) {
		const folder = folderOf(layer.name.smallkey);
		const group = groups.get(folder);
		if (group) group.push(layer);
		else groups.set(folder, [layer]);
	}
	try {
		for (const [folder, group] of groups)
			judgeFolder([...((await folders.names(folder))?.keys() ?? [])], group, problems);
	} finally {
		await catFile.close();
	}
}

/** @param names of all files in one folder, as it would be */
function judgeFolder(names: readonly string[], changed: readonly NamedChange[], problems: Findings): void {
	const present = new Set(names);
	/** Lower-case smallkey → its registrations. */
	const spellings = new Map<string, string[]>();
	for (const name of names) {
		const smallkey = name.endsWith(".json") ? parseSmallkey(name.slice(0, -".json".length)) : null;
		if (smallkey === null) continue;
		const lower = smallkey.toLowerCase();
		spellings.set(lower, [...(spellings.get(lower) ?? []), smallkey]);
	}
	for (const { path, mode, name } of changed) {
		const { smallkey, kind } = name;
		const isRegistered = present.has(`${smallkey}.json`);
		const described = descriptionPath(smallkey);
		if (kind === "description" && mode !== null && !isRegistered) {
			problems.add({ file: path, text: orphanText(smallkey) });
		}
		if (kind !== "registration") continue;
		if (mode === null) {
			const isOrphan =
				present.has(`${smallkey}.service.json`) && !changed.some((one) => one.path === described);
			if (isOrphan) problems.add({ file: described, text: orphanText(smallkey) });
			continue;
		}
		const twin = spellings.get(smallkey.toLowerCase())?.find((other) => other !== smallkey);
		if (twin !== undefined) problems.add({ file: path, text: twinText(layerPath(twin)) });
	}
}

/** Judges what changed files are, and what is in those that the service reads. */
async function judgeContents(
	repository: string,
	changes: readonly PathChange[],
	judged: Judged,
): Promise<void> {
	const { problems } = judged;
	const present = changes.filter(({ mode }) => mode !== null);
	const plain = present.filter(({ mode }) => kindOfMode(mode as string) === "file");
	for (const { path, mode } of present) {
		const kind = kindOfMode(mode as string);
		if (kind === "file" || path === "layers") continue;
		problems.add({
			file: path,
			text: `must be a plain file, not a ${kind === "other" ? "submodule" : kind}`,
		});
	}
	const sizes = await readSizes(
		repository,
		plain.map(({ id }) => id as string),
	);
	const read: PathChange[] = [];
	for (const change of plain) {
		const { path, id } = change;
		const isLayer = path.startsWith("layers/") && typeof parseLayerPath(path) !== "string";
		const maxBytes = isLayer ? limitOf(path) - 1 : maxOtherBytes;
		const bytes = sizes.get(id as string) ?? 0;
		if (bytes > maxBytes)
			problems.add({ file: path, text: `must have at most ${maxBytes} bytes, not ${bytes}` });
		else if (isLayer || path === ownersPath) read.push(change);
	}
	await readAndJudge(repository, read, judged);
}

async function readAndJudge(
	repository: string,
	changes: readonly PathChange[],
	judged: Judged,
): Promise<void> {
	let next = 0;
	const ids = changes.map(({ id }) => id as string);
	for await (const blobs of readBlobs(repository, ids)) {
		for (const bytes of blobs) {
			const { path } = changes[next++] as PathChange;
			judgeContent({ path, kind: "file", bytes }, judged);
		}
	}
}

function judgeContent(file: LayerFile, { problems, warnings }: Judged): void {
	if (file.path === ownersPath) {
		return problems.add(...parseOwners(file.bytes).problems.map((text) => ({ file: file.path, text })));
	}
	if (file.path.endsWith(".service.json")) return problems.add(...checkDescriptionFile(file).problems);
	const { registration, problems: found } = checkRegistrationFile(file, "written");
	problems.add(...found);
	if (!registration) return;
	warnings.add(...warningsOf(registration).map((text) => ({ file: file.path, text })));
}
