import { healthPath, repairTrailer } from "../../registry/health.ts";
import { isSenderId, type PublicName } from "../../registry/sender.ts";
import {
	descriptionPath,
	type Lang,
	layerPath,
	parseLayerPath,
	parseSmallkey,
} from "../../registry/smallkey.ts";
import { pointerSegment } from "../../registry/texts.ts";
import { isObject, shortened, tryJson } from "../../registry/untrusted-text.ts";
import { openCatFile } from "../../store/git/commands/cat-file.ts";
import {
	believedMs,
	isShallow,
	type LoggedCommit,
	personText,
	readLog,
	trailersOf,
} from "../../store/git/commands/commits.ts";
import { serviceIdentity } from "../../store/store.ts";
import { objectOf } from "../service/decode.ts";
import {
	type ChangeDetail,
	type ChangeKind,
	type FieldChange,
	maxRecent,
	type RecentChange,
} from "./entries.ts";
import { inBoth, type KnownOfLayer } from "./entry.ts";

/** The newest commits have details. */
export interface CommitChanges {
	commit: string;
	/** ISO 8601 in UTC, whole seconds. */
	date: string;
	layers: { smallkey: string; kind: ChangeKind; detail?: ChangeDetail }[];
	/** Smallkeys of layers for which a repair was proposed. */
	repairs?: string[];
}

/** Most layers listed for one commit; of more, only the number is. */
const maxListedLayers = 200;

export interface HistoryCommit extends CommitChanges {
	/** Null for a commit that did not arrive by a request. */
	sender: string | null;
	/** Those whose registration it wrote or deleted, not only their description. */
	registered: ReadonlySet<string>;
}

const walk = ["--first-parent", "--diff-merges=first-parent", "--reverse"];

/**
 * Reads the commits that touched layers: first parents only, so a merge is one commit.
 * @param range a commit, or the commits after another one: `<id>..<id>`
 * @param afterMs the believed date of the commit before the range
 * @param nowMs the clock: no date after it is believed
 * @returns with the believed date of the last commit; null if the repository is a shallow clone
 */
export async function readHistory(
	repository: string,
	range: string,
	afterMs = 0,
	nowMs: number = Date.now(),
) {
	if (await isShallow(repository)) return null;
	const commits: HistoryCommit[] = [];
	let dateMs = afterMs;
	for await (const logged of readLog(repository, [...walk, range, "--", "layers"])) {
		dateMs = believedMs(logged.committer.timeMs, dateMs, nowMs);
		const commit = historyCommit(logged, dateMs);
		if (commit.layers.length > 0 || commit.repairs) commits.push(commit);
	}
	return { commits, dateMs };
}

export function historyCommit(
	{ id, committer, message, files }: LoggedCommit,
	dateMs: number = committer.timeMs,
): HistoryCommit {
	const kinds = new Map<string, ChangeKind>();
	const registered = new Set<string>();
	for (const { status, path } of files) {
		const { smallkey = "", kind = "" } = parseLayerPath(path) ?? {};
		// A registration adds or removes a layer; a description alone only changes it.
		if (kind === "registration") {
			registered.add(smallkey);
			kinds.set(smallkey, ({ A: "added", D: "removed" } as const)[status] ?? "changed");
		} else if (kind !== "" && !kinds.has(smallkey)) kinds.set(smallkey, "changed");
	}
	// Only trailers of the service's commits are read: a pushed commit may have any trailer.
	const isOurs = personText(committer) === serviceIdentity;
	const valuesOf = (trailer: string) => (isOurs ? trailersOf(message, trailer) : []);
	const isHealth = files.some(({ path }) => path === healthPath);
	const repairs = isHealth ? valuesOf(repairTrailer).filter((smallkey) => parseSmallkey(smallkey)) : [];
	const sender = valuesOf("Sender").at(-1) ?? "";
	const sorted = [...kinds].sort(([a], [b]) => (a < b ? -1 : 1));
	return {
		commit: id,
		date: `${new Date(dateMs).toISOString().slice(0, 19)}Z`,
		layers: sorted.map(([smallkey, kind]) => ({ smallkey, kind })),
		...(repairs.length > 0 && { repairs }),
		registered,
		sender: isSenderId(sender) ? sender : null,
	};
}

/** With the public name of the sender who registered the layer last. @param names sender's id → public name */
export function addLastChanges(
	last: Map<string, KnownOfLayer>,
	commits: readonly HistoryCommit[],
	names: Readonly<Record<string, PublicName>> = {},
): void {
	for (const { commit, date, layers, registered, sender: id } of commits) {
		const name = id !== null && Object.hasOwn(names, id) ? names[id] : undefined;
		const changed = { commit: commit.slice(0, commitDigits), date };
		for (const { smallkey } of layers) {
			const sender = registered.has(smallkey) ? name : last.get(smallkey)?.sender;
			last.set(smallkey, { changed, ...(sender && { sender }) });
		}
	}
}

/** All 40 would make an entry a seventh longer. */
const commitDigits = 12;

/** Newest first. */
export function recentChanges(
	commits: readonly CommitChanges[],
	earlier: readonly RecentChange[] = [],
): RecentChange[] {
	const changes = commits.slice(-maxRecent).reverse().flatMap(changesOf);
	return [...changes, ...earlier].slice(0, maxRecent);
}

function changesOf({ commit, date, layers, repairs = [] }: CommitChanges): RecentChange[] {
	const changed = layers.map(({ detail, ...layer }) => ({ ...layer, ...detail }));
	const repaired = repairs.map((smallkey) => ({ smallkey, kind: "repair" as const }));
	const whats = layers.length > maxListedLayers ? [{ many: layers.length }] : [...changed, ...repaired];
	return whats.map((what) => ({ commit, date, what }));
}

const maxFields = 30;
const maxValueLength = 200;

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
			left -= changesOf(commit).length;
			if (commit.layers.length > maxListedLayers) continue;
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

/** The smallkey takes the place of a missing title. */
function wasOf(registration: unknown, smallkey: string) {
	const text = (lang: Lang, name: string) => {
		const value = objectOf(objectOf(registration)[lang])[name];
		return typeof value === "string" ? value : "";
	};
	const titleIn = (lang: Lang) => text(lang, "service_name") || smallkey;
	return {
		title: { en: titleIn("en"), fr: titleIn("fr") },
		address: inBoth(text("en", "service_url"), text("fr", "service_url")),
	};
}

/** A value of a service is shown only if it is short: symbols and fields are long lists. */
function readField({ from, to, ...field }: FieldChange): FieldChange {
	const isShort = [from, to].every((text = "") => !/^[[{]/.test(text) && text.length < maxValueLength);
	return { ...field, isRead: true, ...(isShort && from && { from }), ...(isShort && to && { to }) };
}

/** In the order of the second value. Lists are compared as a whole. */
export function differences(before: unknown, after: unknown, pointer = ""): FieldChange[] {
	if (JSON.stringify(before) === JSON.stringify(after)) return [];
	if (isObject(before) && isObject(after)) {
		const names = new Set([...Object.keys(after), ...Object.keys(before)]);
		return [...names].flatMap((name) =>
			differences(before[name], after[name], `${pointer}/${pointerSegment(name)}`),
		);
	}
	const [from, to] = [before ?? undefined, after ?? undefined].map((value) => {
		const text = typeof value === "string" ? value : JSON.stringify(value);
		return text && shortened(text, maxValueLength);
	});
	return [{ field: pointer, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
}
