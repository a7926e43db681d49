import { join } from "node:path";
import type { Context } from "../../api/context.ts";
import { runGit } from "../../api/git/run.ts";
import type { Senders } from "../../api/senders.ts";
import { type FileChange, GitStore } from "../../api/stores/git.ts";
import { parseLayerPath } from "../../registry/catalogue.ts";
import { collectCommit } from "../build/collect.ts";
import { rendererStamp } from "../build/manifest.ts";
import type { Harvester } from "./harvester/harvester.ts";
import { logError, logLine } from "./log.ts";
import { repositoryPath, seed } from "./open-store.ts";
import { Publication } from "./publication.ts";
import type { Service } from "./service.ts";
import type { Configuration } from "./settings.ts";

/** The configured service: layers in a repository on this machine, or on GitHub. */
export async function openService(configuration: Configuration, senders: Senders): Promise<Service> {
	if (!configuration.github) return openLocal(configuration, senders);
	// Loaded only where it is used: what it brings along takes memory.
	const { openGithub } = await import("./github-composition.ts");
	return openGithub(configuration, senders);
}

const now = () => new Date();

/** How many earlier texts of a wrong file are looked at for one that can be served. */
const mostEarlier = 50;

/** Texts that a file of a repository had in earlier commits, newest first. */
async function earlierTexts(repository: string, path: string): Promise<Uint8Array[]> {
	const args = ["log", "-n", String(mostEarlier), "--format=%H", "main", "--", path];
	const commits = (await runGit(repository, args)).toString("latin1").split("\n").filter(Boolean);
	const texts = commits.map((commit) => runGit(repository, ["show", `${commit}:${path}`]).catch(() => null));
	const found = await Promise.all(texts);
	// What was removed in between stays removed.
	const gone = found.indexOf(null);
	return found.slice(0, gone < 0 ? undefined : gone).filter((text) => text !== null);
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
		publication.save(kept, { commit: store.tip, renderer }, false);
	}
	store.start();
	if (configuration.harvest.on) {
		const { openHarvester } = await import("./harvester/open.ts");
		harvester = openHarvester(configuration, store, () => publication.smallkeys());
		harvester.start();
	}
	const context: Context = { store, settings: { ...configuration, senders }, now, report: logError };
	const close = async () => {
		await harvester?.close();
		await store.close();
		publication.save(kept, { commit: store.tip, renderer }, true);
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
