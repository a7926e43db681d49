import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { middleRank } from "../registry/description.ts";
import { type CheckedLayer, type FileProblem, problemLine } from "../registry/judge.ts";
import type { Fragment, FragmentSettings } from "../registry/targets/facts.ts";
import { type Problem, problemAt } from "../registry/texts.ts";
import { tryJson } from "../registry/untrusted-text.ts";
import { readTextIfThere, replaceFile } from "../store/files/files.ts";
import type { Branch, CommitRange } from "../store/git/branch.ts";
import { GitFailure } from "../store/git/commands/run.ts";
import { etagOf } from "../store/hashes.ts";
import type { Log } from "../store/store.ts";
import { namesIn, readValid, storeLayers } from "./changed-layers.ts";
import { openFileWriter, type Rendered } from "./file-writer.ts";
import { openFolder, readFragmentFile, servedManifestPath } from "./place-file.ts";
import { createFragmentCache, fragmentSettings, rendererStamp, renderFragments } from "./rendered.ts";

/** The files of a larger push are written in the background. */
const maxSmallPush = 100;

interface ServedManifest {
	renderer: string;
	commit: string;
	/** A service writes the files: they show the commit, or a later one, or it was killed. */
	isOpen: boolean;
	layers: readonly [smallkey: string, rank: number][];
}

type Served = Pick<CommitRange, "to" | "at">;

type ServedBranch = Pick<Branch, "rangeSince" | "firstRange" | "readerAt" | "commit">;

export type Publication = ReturnType<typeof openPublication>;

/**
 * The rendered files, which follow the branch. A layer whose file is missing, or is not known to be current,
 * is rendered when it is read.
 */
export function openPublication(options: {
	dataDir: string;
	repository: string;
	settings: FragmentSettings;
	maxCacheBytes: number;
	log: Log;
	retryMs?: number | undefined;
}) {
	const { dataDir, repository, log, retryMs } = options;
	const settings = fragmentSettings(options.settings);
	const renderer = rendererStamp(settings);
	const out = join(dataDir, "dist");
	const folder = openFolder(out, settings.targets);
	const manifestPath = servedManifestPath(out);
	/** Smallkey → rank. Wrong layers are in it until the files are compared. */
	const layers = new Map<string, number>();
	let served: Served | null = null;
	let branch: ServedBranch;
	const { file, drop, clear } = createFragmentCache(options.maxCacheBytes, folder.folders, has, load);
	const files = openFileWriter({
		...{ folder, layers, log, retryMs },
		render: (smallkeys) => render(smallkeys),
		written: drop,
	});

	/**
	 * Serves the files of an earlier process, with what has changed since. If it was killed, or had other
	 * settings, all files are compared in the background.
	 * @returns the commit that is served: an earlier one if the layers since then cannot be read
	 * @throws {GitFailure} if the layers cannot be read and there are no files
	 */
	async function begin(opened: ServedBranch): Promise<string> {
		branch = opened;
		const manifest = tryJson((await readTextIfThere(manifestPath)) ?? "") as ServedManifest | null;
		try {
			const range = manifest && (await branch.rangeSince(manifest.commit));
			if (manifest && !range) {
				log.warn(
					`${repository} does not have commit ${manifest.commit}, which was served last: it is new, or an older copy, and served as it is`,
				);
			}
			const isKnown = manifest?.renderer === renderer && !manifest.isOpen;
			const isCurrent = isKnown && !folder.isMissing() && !existsSync(join(dataDir, "fragments"));
			if (range && isCurrent) {
				know(manifest);
				await publish(range);
			} else await compareAll();
		} catch (error) {
			if (!(error instanceof GitFailure) || !manifest || folder.isMissing()) throw error;
			know(manifest);
			served = { to: manifest.commit, at: branch.readerAt(manifest.commit) };
			return manifest.commit;
		}
		await saveManifest(true);
		// Of earlier versions, and of a build.
		for (const name of ["fragments", "fragments.ended", "dist.made", "dist.manifest"])
			await rm(join(dataDir, name), { force: true }).catch(log.error);
		return branch.commit;
	}

	function know(manifest: ServedManifest): void {
		for (const [smallkey, rank] of manifest.layers) layers.set(smallkey, rank);
	}

	async function compareAll(): Promise<void> {
		const { to, changes, at } = await branch.firstRange();
		served = { to, at };
		const { registered, problems } = await namesIn(changes);
		for (const smallkey of registered) layers.set(smallkey, middleRank);
		report(problems);
		files.compareAll();
	}

	/**
	 * Those of a large push are written in the background. @throws {GitFailure} if the layers cannot be read
	 */
	async function publish({ to, changes, at, isPushed }: CommitRange): Promise<Problem[]> {
		const { smallkeys, problems } = await namesIn(changes);
		if (isPushed && changes.length > maxSmallPush) {
			served = { to, at };
			files.mark(smallkeys);
			clear();
			report(problems);
			files.work();
			return [];
		}
		const isWritten = await files.write(smallkeys, () => render(smallkeys, { to, at }));
		// Last: after a failure, the same range comes again several times a second.
		report(problems);
		served = { to, at };
		files.work();
		return isWritten ? [] : [problemAt("", "files-behind")];
	}

	async function render(smallkeys: readonly string[], at = served, reports = true): Promise<Rendered> {
		if (!at) throw new Error("nothing is served yet");
		const make = (layer: CheckedLayer) => renderFragments(layer, settings);
		const range = await readValid({ repository, commit: at.to }, smallkeys, storeLayers(at.at), make);
		if (reports) report(range.problems);
		return range.layers;
	}

	function report(problems: readonly FileProblem[]): void {
		for (const problem of problems) log.warn(problemLine(problem));
	}

	function has(smallkey: string): boolean {
		return layers.has(smallkey) || files.isStale(smallkey);
	}

	async function load(slot: string, smallkey: string): Promise<Fragment | null> {
		if (!files.isStale(smallkey)) {
			const fragment = await readFragmentFile(join(out, slot, smallkey)).catch(() => undefined);
			if (fragment) return { ...fragment, rank: layers.get(smallkey) ?? middleRank };
			// With too many open files, the file may be right.
			if (fragment === null) {
				files.mark([smallkey]);
				files.work();
			}
		}
		return renderOne(slot, smallkey);
	}

	async function renderOne(slot: string, smallkey: string): Promise<Fragment | null> {
		const layer = await render([smallkey], served, false).catch(async (error) => {
			// What the layer was before is better than no answer.
			const fragment = error instanceof GitFailure ? await readFragmentFile(join(out, slot, smallkey)) : null;
			if (!fragment || tryJson(Buffer.from(fragment.body).toString()) === null) throw error;
			return fragment;
		});
		if ("body" in layer) return layer;
		const rendered = layer.get(smallkey);
		const body = rendered?.fragments[folder.folders.indexOf(slot)];
		return rendered && body ? { body, etag: etagOf(body), rank: rendered.rank } : null;
	}

	async function saveManifest(isOpen: boolean): Promise<void> {
		const commit = served?.to ?? "";
		const manifest: ServedManifest = { renderer, commit, isOpen, layers: [...layers] };
		await replaceFile(manifestPath, `${JSON.stringify(manifest)}\n`).catch(log.error);
	}

	return {
		file,
		begin,
		publish,
		has,
		smallkeys: () => layers.keys(),
		/** While files are compared, wrong layers are counted, too. */
		get size(): number {
			return layers.size;
		},
		files,
		async close(): Promise<void> {
			const areCurrent = await files.close();
			if (areCurrent && served) await saveManifest(false);
		},
	};
}
