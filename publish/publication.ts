import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { middleRank } from "../registry/description.ts";
import { type CheckedLayer, type FileProblem, problemLine } from "../registry/judge.ts";
import type { Fragment, FragmentSettings } from "../registry/targets/facts.ts";
import { tryJson } from "../registry/untrusted.ts";
import { readTextIfThere, replaceFile } from "../store/files/files.ts";
import type { Branch, CommitRange } from "../store/git/branch.ts";
import { GitFailure } from "../store/git/commands/run.ts";
import { etagOf } from "../store/hashes.ts";
import type { Log } from "../store/store.ts";
import { namesIn, readValid, storeLayers } from "./changed-layers.ts";
import { FileWriter, type Rendered } from "./file-writer.ts";
import { FragmentFolder, servedManifestPath } from "./place-file.ts";
import { createFragmentCache, fragmentSettings, rendererStamp, renderFragments } from "./rendered.ts";

interface ServedManifest {
	renderer: string;
	commit: string;
	/** A service writes the files, or was killed: they show this commit or a later one. */
	isOpen: boolean;
	layers: readonly [smallkey: string, rank: number][];
}

type Served = Pick<CommitRange, "to" | "reader">;

type ServedBranch = Pick<Branch, "rangeSince" | "firstRange" | "readerAt" | "commit">;

interface PublicationOptions {
	dataDir: string;
	repository: string;
	settings: FragmentSettings;
	maxCacheBytes: number;
	log: Log;
	retryMs?: number | undefined;
}

/** A layer whose file is missing or stale is rendered when it is read. */
export class Publication {
	readonly files: FileWriter;
	readonly #settings: Required<FragmentSettings>;
	readonly cache: ReturnType<typeof createFragmentCache>;
	#served: Served | null = null;

	constructor(readonly options: PublicationOptions) {
		this.#settings = fragmentSettings(options.settings);
		const folder = new FragmentFolder(join(options.dataDir, "dist"), this.#settings.targets);
		this.cache = createFragmentCache(options.maxCacheBytes, folder.folders, this.has, this.#load);
		this.files = new FileWriter(folder, { ...options, render: this.#render, drop: this.cache.drop });
	}

	readonly has = (smallkey: string) => this.files.layers.has(smallkey) || this.files.isStale(smallkey);

	/**
	 * Serves the files of an earlier process, with later changes. If it was killed, or had other settings, all
	 * files are compared in the background.
	 * @returns the served commit: an earlier one if later layers cannot be read
	 * @throws {GitFailure} if there are neither readable layers nor files
	 */
	async begin(branch: ServedBranch): Promise<string> {
		const { dataDir, log } = this.options;
		const { folder } = this.files;
		const stored = await readTextIfThere(servedManifestPath(folder.out));
		const manifest = tryJson(stored ?? "") as ServedManifest | null;
		try {
			await this.#catchUp(branch, manifest);
		} catch (error) {
			if (!(error instanceof GitFailure) || !manifest || folder.isMissing()) throw error;
			this.#setRanks(manifest);
			this.#served = { to: manifest.commit, reader: branch.readerAt(manifest.commit) };
			return manifest.commit;
		}
		await this.#saveManifest({ isOpen: true });
		// Earlier versions and builds wrote these.
		for (const name of ["fragments", "fragments.ended", "dist.made", "dist.manifest"])
			await rm(join(dataDir, name), { force: true }).catch(log.error);
		return branch.commit;
	}

	async #catchUp(branch: ServedBranch, manifest: ServedManifest | null): Promise<void> {
		const { dataDir, repository, log } = this.options;
		const range = manifest && (await branch.rangeSince(manifest.commit));
		if (manifest && !range) {
			log.warn(
				`${repository} does not have commit ${manifest.commit}, which was served last: it is new, or an older copy, and served as it is`,
			);
		}
		const isKnown = manifest?.renderer === rendererStamp(this.#settings) && !manifest.isOpen;
		const isMissing = this.files.folder.isMissing() || existsSync(join(dataDir, "fragments"));
		if (!range || !isKnown || isMissing) return this.#compareAll(await branch.firstRange());
		this.#setRanks(manifest);
		await this.publish(range);
	}

	#setRanks({ layers }: ServedManifest): void {
		for (const [smallkey, rank] of layers) this.files.layers.set(smallkey, rank);
	}

	async #compareAll({ to, changes, reader }: CommitRange): Promise<void> {
		this.#served = { to, reader };
		const { registered, problems } = await namesIn(changes);
		for (const smallkey of registered) this.files.layers.set(smallkey, middleRank);
		this.#report(problems);
		this.files.compareAll();
	}

	/** A push is written in the background. @returns false if a file could not be written */
	async publish({ to, changes, reader, isPushed }: CommitRange): Promise<boolean> {
		const { smallkeys, problems } = await namesIn(changes);
		this.#served = { to, reader };
		this.#report(problems);
		if (!isPushed) return this.files.write(smallkeys);
		this.files.mark(smallkeys);
		return true;
	}

	async close(): Promise<void> {
		if ((await this.files.close()) && this.#served) await this.#saveManifest({ isOpen: false });
	}

	readonly #render = async (smallkey: string): Promise<Rendered> => {
		const { layers, problems } = await this.#read(smallkey);
		this.#report(problems);
		return layers;
	};

	async #read(smallkey: string) {
		if (!this.#served) throw new Error("nothing is served yet");
		const { to: commit, reader } = this.#served;
		const { repository } = this.options;
		const make = (layer: CheckedLayer) => renderFragments(layer, this.#settings);
		return readValid({ repository, commit }, [smallkey], storeLayers(reader), make);
	}

	#report(problems: readonly FileProblem[]): void {
		for (const problem of problems) this.options.log.warn(problemLine(problem));
	}

	readonly #load = async (slot: string, smallkey: string): Promise<Fragment | null> => {
		const { files } = this;
		if (!files.isStale(smallkey)) {
			const fragment = await files.folder.read(slot, smallkey).catch(() => undefined);
			if (fragment) return { ...fragment, rank: files.layers.get(smallkey) ?? middleRank };
			// Undefined: too many files are open, and the file may be right.
			if (fragment === null) files.mark([smallkey]);
		}
		return this.#renderOne(slot, smallkey);
	};

	async #renderOne(slot: string, smallkey: string): Promise<Fragment | null> {
		const { folder } = this.files;
		try {
			const layer = (await this.#read(smallkey)).layers.get(smallkey);
			const body = layer?.fragments[folder.folders.indexOf(slot)];
			return layer && body ? { body, etag: etagOf(body), rank: layer.rank } : null;
		} catch (error) {
			if (!(error instanceof GitFailure)) throw error;
			// An earlier form is better than no answer; what was never served must not make lists fail.
			const fragment = await folder.read(slot, smallkey);
			if (fragment && tryJson(Buffer.from(fragment.body).toString()) !== null) return fragment;
			if (!this.files.layers.has(smallkey)) return null;
			throw error;
		}
	}

	async #saveManifest({ isOpen }: { isOpen: boolean }): Promise<void> {
		const { folder, layers } = this.files;
		const renderer = rendererStamp(this.#settings);
		const commit = this.#served?.to ?? "";
		const manifest: ServedManifest = { renderer, commit, isOpen, layers: [...layers] };
		const text = `${JSON.stringify(manifest)}\n`;
		await replaceFile(servedManifestPath(folder.out), text).catch(this.options.log.error);
	}
}
