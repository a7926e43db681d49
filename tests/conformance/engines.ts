import type { ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import {
	bucketConfiguration,
	buildWorker,
	bundlePath,
	wranglerPath,
} from "../../extensions/hosting/commands/deploy.ts";
import { build } from "../../publish/build.ts";
import { layerPath } from "../../registry/smallkey.ts";
import type { TargetName } from "../../registry/targets/facts.ts";
import { targetNames } from "../../registry/targets/table.ts";
import { writeHostingFiles } from "../../site/build/output.ts";
import { filesBelow } from "../../store/files/files.ts";
import { root, ServerProcess } from "../helpers/process.ts";
import { temporaryFolder, writeFiles } from "../helpers/world.ts";
import { startPeer } from "../store/github-peer.ts";
import { type Candidate, senders } from "./engine.ts";

/** Below the ports of connections (32,768 on Linux), which are soon taken again. */
export async function freePort(): Promise<number> {
	for (;;) {
		const port = randomInt(10_000, 32_768);
		const server = createServer();
		const isFree = await new Promise<boolean>((resolve) => {
			server.once("error", () => resolve(false));
			server.listen(port, "127.0.0.1", () => resolve(true));
		});
		await new Promise((resolve) => server.close(resolve));
		if (isFree) return port;
	}
}

export async function end(child: ChildProcess) {
	const closed = new Promise((resolve) => child.once("close", resolve));
	child.kill("SIGTERM");
	await closed;
}

export async function buildDist(
	layers: ReadonlyMap<string, string>,
	folder: string,
	compress = false,
	targets: readonly TargetName[] = targetNames,
) {
	for (const [smallkey, body] of layers) writeFiles(folder, { [layerPath(smallkey)]: body });
	const out = join(folder, "dist");
	const settings = { metadataUrl: "", catalogueUrl: "", targets };
	const { problems, written } = await build({ folder: join(folder, "layers") }, out, settings);
	if (!written) throw new Error(problems.join("\n"));
	await writeHostingFiles(out, compress, targets, false);
	return out;
}

/** Serves a build in Cloudflare's local runtime. @param hasBucket its files are objects of a local R2 bucket */
export async function startWorkers(dist: string, hasBucket: boolean, env: Record<string, string>) {
	const folder = await temporaryFolder();
	const persisted = join(folder.path, "state");
	await buildWorker();
	const args = [wranglerPath, "dev", bundlePath, "--no-bundle", "--local", "--persist-to", persisted];
	args.push("--ip=127.0.0.1", "--port=0", "--inspector-port=0", "--show-interactive-dev-session=false");
	if (hasBucket) {
		const configuration = join(folder.path, "wrangler.jsonc");
		await writeFile(configuration, await bucketConfiguration("fragments"));
		await fillLocalBucket(configuration, join(persisted, "v3"), dist);
		args.push("--config", configuration);
	} else args.push("--assets", dist);
	const own = { HOME: folder.path, TMPDIR: folder.path, WRANGLER_LOG_PATH: folder.path };
	// The worker gets all variables of wrangler's process, as it gets those of its settings at Cloudflare.
	const all = {
		...own,
		CLOUDFLARE_INCLUDE_PROCESS_ENV: "true",
		CLOUDFLARE_CF_FETCH_ENABLED: "false",
		...env,
	};
	const server = await ServerProcess.start(all, root, args);
	return {
		origin: server.url,
		log: () => server.output,
		async stop() {
			await server.stop();
			await folder.remove();
		},
	};
}

async function fillLocalBucket(configPath: string, persist: string, dist: string) {
	const { getPlatformProxy } = await import(
		join(root, "deploy/workers/node_modules/wrangler/wrangler-dist/cli.js")
	);
	const { env, dispose } = await getPlatformProxy({ configPath, persist: { path: persist } });
	// The runtime's library cannot pass on a Buffer.
	for (const path of filesBelow(dist))
		await env.OBJECTS.put(path, new Uint8Array(await readFile(join(dist, path))));
	await dispose();
}

const noEngine = existsSync(wranglerPath)
	? null
	: "workerd is not installed (npm ci --prefix deploy/workers)";

export const workers: Candidate = {
	name: "Workers",
	missing: noEngine,
	start: (layers) => startOnWorkers(layers, false),
};

export const workersWithBucket: Candidate = {
	name: "Workers with R2",
	missing: noEngine,
	start: (layers) => startOnWorkers(layers, true),
};

async function startOnWorkers(layers: ReadonlyMap<string, string>, hasBucket: boolean) {
	const folder = await temporaryFolder();
	const peer = await startPeer();
	for (const [smallkey, body] of layers) await peer.push(layerPath(smallkey), body);
	// One of the two engines is an App, whose key has many lines.
	const { appId, privateKey } = peer.app;
	const app = { GITHUB_APP_ID: appId, GITHUB_APP_PRIVATE_KEY: privateKey };
	const running = await startWorkers(await buildDist(layers, folder.path), hasBucket, {
		SENDERS: JSON.stringify(senders),
		GITHUB_REPOSITORY: peer.repository,
		...(hasBucket ? app : { GITHUB_TOKEN: peer.token }),
		GITHUB_API_URL: peer.proxy.url,
		DOCS_MAX_KEYS: "60",
	});
	return {
		origin: running.origin,
		docsMaxKeys: 60,
		published: false,
		state: async () => (await peer.commits())[0]?.sha ?? "",
		async stop() {
			await running.stop();
			await peer.close();
			await folder.remove();
		},
	};
}
