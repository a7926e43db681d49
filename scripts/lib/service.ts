import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Context } from "../../api/app.ts";
import { parseLayerPath } from "../../api/catalogue.ts";
import { etagOf, type Fragments } from "../../api/read.ts";
import type { Senders } from "../../api/senders.ts";
import { fragmentPath } from "../../api/smallkey.ts";
import { runGit } from "../../api/stores/git/run.ts";
import { type FileChange, GitStore } from "../../api/stores/git.ts";
import { githubStore } from "../../api/stores/github.ts";
import { createHarvester, type Harvester } from "../../harvest/background.ts";
import { collectCommit } from "./collect.ts";
import { fetchFromGithub } from "./github.ts";
import { logError, logLine } from "./log.ts";
import { rendererStamp } from "./manifest.ts";
import { langFolder } from "./output.ts";
import { Publication } from "./publication.ts";
import { askWith } from "./services.ts";
import type { Configuration } from "./settings.ts";
import { repositoryPath, seed } from "./store.ts";

/** What stands behind the HTTP server, and ends after it. */
export interface Service {
	context: Context;
	/** Where the reads look. */
	fragments: Fragments;
	/** Another number after each change of any fragment; null where others change them. */
	version: (() => number) | null;
	/** Number of layers that can be read now. */
	layers: () => number;
	close: () => Promise<void>;
}

/** The configured service: layers in a repository on this machine, or on GitHub. */
export function openService(configuration: Configuration, senders: Senders): Promise<Service> {
	return configuration.github ? openGithub(configuration, senders) : openLocal(configuration, senders);
}

const now = () => new Date();

/** How many earlier texts of a wrong file are looked at for one that can be served. */
const mostEarlier = 50;

/** Texts that a file of a repository had in earlier commits, newest first. */
async function earlierTexts(repository: string, path: string): Promise<Uint8Array[]> {
	const args = ["log", "-n", String(mostEarlier), "--format=%H", "main", "--", path];
	const commits = (await runGit(repository, args)).toString("latin1").split("\n").filter(Boolean);
	const texts = commits.map((commit) => runGit(repository, ["show", `${commit}:${path}`]).catch(() => null));
	return (await Promise.all(texts)).filter((text) => text !== null);
}

/** Reads come from memory, in step with the local branch. */
async function openLocal(configuration: Configuration, senders: Senders): Promise<Service> {
	const repository = repositoryPath(configuration.dataDir);
	const kept = join(configuration.dataDir, "fragments");
	const renderer = rendererStamp(configuration);
	const publication = new Publication({
		out: join(configuration.dataDir, "dist"),
		settings: configuration,
		warn: (warning) => logLine({ warning }),
		readLayer: (smallkey) => store.read(smallkey),
		earlier: (path) => earlierTexts(repository, path),
	});
	let harvester: Harvester | null = null;
	const publish = async (changes: FileChange[]) => {
		await publication.change(changes);
		// What the store reads is the new state only when this has ended.
		setImmediate(() => {
			for (const smallkey of registeredIn(changes)) harvester?.follow(smallkey);
		});
	};
	const store = await GitStore.open({ repository, now, publish, report: logError }, seed);
	const restored = publication.restore(kept, renderer);
	if (restored === null || !(await store.publishSince(restored))) {
		await publication.load(await collectCommit(repository, store.tip));
		publication.save(kept, { commit: store.tip, renderer });
	}
	store.start();
	harvester = openHarvester(configuration, store, publication);
	harvester?.start();
	const context: Context = { store, settings: { ...configuration, senders }, now, report: logError };
	const close = async () => {
		await harvester?.close();
		await store.close();
		publication.save(kept, { commit: store.tip, renderer });
	};
	const { fragments, version } = publication;
	return { context, fragments, version, layers: () => publication.size, close };
}

/** The layers whose registration was written, by a PUT or a push. */
function registeredIn(changes: FileChange[]): string[] {
	return changes.flatMap(({ path, file }) => {
		const name = parseLayerPath(path);
		return file && typeof name === "object" && name.kind === "registration" ? [name.smallkey] : [];
	});
}

function openHarvester(
	configuration: Configuration,
	store: GitStore,
	publication: Publication,
): Harvester | null {
	const { on, every } = configuration.harvest;
	if (!on) return null;
	return createHarvester({
		store,
		ask: askWith(configuration.harvest),
		mapWkid: configuration.mapWkid,
		every,
		now,
		allKeys: () => publication.smallkeys(),
		log: logLine,
		report: logError,
	});
}

/** This process only writes; reads come from the last build of this checkout, as they would from the hosting. */
async function openGithub(configuration: Configuration, senders: Senders): Promise<Service> {
	const { github } = configuration;
	if (!github) throw new Error("GITHUB_REPOSITORY: must be set");
	const out = resolve("dist");
	const store = githubStore({ ...github, fetch: fetchFromGithub(configuration), now, report: logError });
	return {
		context: { store, settings: { ...configuration, senders }, now, report: logError },
		fragments: (lang, smallkey) => readBuilt(join(out, fragmentPath(lang, smallkey))),
		version: null,
		layers: () => countBuilt(langFolder(out, "en")),
		close: async () => undefined,
	};
}

function readBuilt(path: string): ReturnType<Fragments> {
	try {
		const body = readFileSync(path);
		return { body, etag: etagOf(body) };
	} catch (error) {
		if (isMissing(error)) return null;
		throw error;
	}
}

function countBuilt(folder: string): number {
	try {
		return readdirSync(folder).filter((name) => !name.includes(".")).length;
	} catch (error) {
		if (isMissing(error)) return 0;
		throw error;
	}
}

function isMissing(error: unknown): boolean {
	return (error as NodeJS.ErrnoException).code === "ENOENT";
}
