import { readServed } from "../../publish/changed-layers.ts";
import type { LayersAt } from "../../publish/collect.ts";
import { type Health, healthPath, parseHealth } from "../../registry/health.ts";
import { judgeChange, type LayerFile, namesOf, problemLine } from "../../registry/judge.ts";
import { nameOf, ownersOf, ownersPath, parseOwners } from "../../registry/owners.ts";
import { descriptionPath, type Lang, layerPath } from "../../registry/smallkey.ts";
import { pointerSegment } from "../../registry/texts.ts";
import type { PublicName } from "../../registry/timestamp.ts";
import { isObject, tryJson } from "../../registry/untrusted-text.ts";
import { openCatFile } from "../../store/git/commands/cat-file.ts";
import { listTree, readEntries } from "../../store/git/commands/tree.ts";
import { type HistoryCommit, lastChanges, maxListedLayers, readHistory } from "./change-list.ts";
import type { Entry } from "./entries.ts";
import { entryOf } from "./entry.ts";
import type { CatalogueContent, OwnersOf } from "./files.ts";
import type { CatalogueOptions } from "./options.ts";
import type { Thumbnails } from "./proofs.ts";
import { type ChangeDetail, type FieldChange, maxRecent } from "./recent.ts";

/**
 * Reads all layers, their history and the owners.
 * @throws {Error} if a file of a folder is wrong
 */
export async function readContent(
	layers: LayersAt,
	{ fragments, senderNames }: CatalogueOptions,
	thumbnails: Thumbnails,
): Promise<CatalogueContent & { owners: OwnersOf }> {
	if ("files" in layers) {
		const { files } = layers;
		const { health, owners } = parseReviewers(files);
		const judged = judgeChange(namesOf(files), files, "stored");
		const [problem] = judged.problems;
		if (problem) throw new Error(problemLine(problem));
		const entries = [...judged.layers.values()].map((layer) => {
			const thumbnail = thumbnails.get(layer.smallkey)?.path;
			return entryOf(layer, { thumbnail }, health, fragments);
		});
		return { entries, history: [], owners };
	}
	const { repository, commit } = layers;
	const history = (await readHistory(repository, commit)) ?? [];
	const files = await listTree(repository, commit, [healthPath, ownersPath]);
	const { health, owners } = parseReviewers(await readEntries(repository, files));
	const last = lastChanges(history, senderNames);
	const range = await readServed(repository, commit, null, (layer): Entry => {
		const known = { ...last.get(layer.smallkey), thumbnail: thumbnails.get(layer.smallkey)?.path };
		return entryOf(layer, known, health, fragments);
	});
	const entries = [...range.layers.values()].filter((entry) => entry !== null);
	return { entries, history: await withDetails(repository, history, senderNames), owners };
}

/**
 * Parses the health and the owners, which reviewers keep in files under `layers/`.
 * @param files some of the layers' files; only plain files have bytes
 */
function parseReviewers(files: readonly LayerFile[]): { health: Health; owners: OwnersOf } {
	const bytesOf = (path: string) => files.find((file) => file.path === path)?.bytes;
	const { owners } = parseOwners(bytesOf(ownersPath));
	return {
		health: parseHealth(new TextDecoder().decode(bytesOf(healthPath))),
		owners: (smallkey) => (owners ? ownersOf(owners, layerPath(smallkey)) : []).map(nameOf),
	};
}

/** Most members that are listed for one change, and most characters of a value. */
const maxFields = 30;
const maxValueLength = 200;

/**
 * Adds to the newest changes of a history what they changed, from the files before and after each commit.
 * @param history oldest first
 * @param names sender's id → public name
 */
export async function withDetails(
	repository: string,
	history: readonly HistoryCommit[],
	names: Readonly<Record<string, PublicName>>,
): Promise<HistoryCommit[]> {
	const catFile = openCatFile(repository);
	const readJson = async (name: string) => {
		const object = await catFile.read(name);
		return object?.type === "blob" ? tryJson(object.body.toString("utf8")) : null;
	};
	const detailed = [...history];
	let left = maxRecent;
	try {
		for (let at = history.length - 1; at >= 0 && left > 0; at -= 1) {
			const commit = history[at] as HistoryCommit;
			if (commit.layers.length > maxListedLayers) {
				left -= 1;
				continue;
			}
			left -= commit.layers.length + (commit.repairs?.length ?? 0);
			const sender = commit.sender === null ? undefined : names[commit.sender];
			const layers: HistoryCommit["layers"] = [];
			for (const layer of commit.layers)
				layers.push({ ...layer, detail: await detailOf(commit.commit, layer, readJson, sender) });
			detailed[at] = { ...commit, layers };
		}
	} finally {
		await catFile.close();
	}
	return detailed;
}

async function detailOf(
	commit: string,
	{ smallkey, kind }: HistoryCommit["layers"][number],
	readJson: (name: string) => Promise<unknown>,
	sender: PublicName | undefined,
): Promise<ChangeDetail> {
	if (kind === "added") return {};
	const path = layerPath(smallkey);
	const before = await readJson(`${commit}^:${path}`);
	if (kind === "removed") return { was: { ...wasOf(before, smallkey), ...(sender && { sender }) } };
	const read = descriptionPath(smallkey);
	const fields = [
		...differences(before, await readJson(`${commit}:${path}`)),
		...differences(await readJson(`${commit}^:${read}`), await readJson(`${commit}:${read}`)).map(readField),
	];
	return { fields: fields.slice(0, maxFields) };
}

/** The titles and addresses of a registration; the smallkey in place of a missing title. */
function wasOf(registration: unknown, smallkey: string) {
	const text = (lang: Lang, name: string) => {
		const node = isObject(registration) ? registration[lang] : null;
		const value = isObject(node) ? node[name] : null;
		return typeof value === "string" ? value : "";
	};
	const titleIn = (lang: Lang) => text(lang, "service_name") || smallkey;
	const [en, fr] = [text("en", "service_url"), text("fr", "service_url")];
	return { title: { en: titleIn("en"), fr: titleIn("fr") }, address: { en, ...(fr !== en && { fr }) } };
}

/** A value of a service is shown only if it is short: symbols and fields are long lists. */
function readField({ from, to, ...field }: FieldChange): FieldChange {
	const isShort = [from, to].every((text = "") => !/^[[{]/.test(text) && text.length < maxValueLength);
	return { ...field, isRead: true, ...(isShort && from && { from }), ...(isShort && to && { to }) };
}

/** The members that differ between two JSON values, in the order of the second. Lists are compared as a whole. */
export function differences(before: unknown, after: unknown, pointer = ""): FieldChange[] {
	if (JSON.stringify(before) === JSON.stringify(after)) return [];
	if (isObject(before) && isObject(after)) {
		const names = new Set([...Object.keys(after), ...Object.keys(before)]);
		return [...names].flatMap((name) =>
			differences(before[name], after[name], `${pointer}/${pointerSegment(name)}`),
		);
	}
	const [from, to] = [before, after].map(textOfValue);
	return [{ field: pointer, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
}

function textOfValue(value: unknown): string | undefined {
	if (value === undefined || value === null) return undefined;
	const text = typeof value === "string" ? value : JSON.stringify(value);
	return text.length <= maxValueLength ? text : `${text.slice(0, maxValueLength - 1).toWellFormed()}…`;
}
