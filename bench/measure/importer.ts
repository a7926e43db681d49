// Feeds git fast-import the commits that PUTs would make, group after group. Reads one JSON document, prints seconds.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { canonicalText } from "../../registry/canonical.ts";
import { layerPath } from "../../registry/smallkey.ts";
import { generateLayers } from "../layers.ts";
import { environment } from "./process.ts";

/** What to write. */
interface Order {
	repository: string;
	count: number;
	/** Commits before each checkpoint. */
	group: number;
	/** Part of the written files, so that every commit changes something. */
	round: number;
}

const { repository, count, group, round } = JSON.parse(await text(process.stdin)) as Order;
const settings = ["core.fsync=committed", "core.fsyncMethod=fsync", "fastimport.unpackLimit=0"];
const args = [
	...settings.flatMap((setting) => ["-c", setting]),
	"-C",
	repository,
	"fast-import",
	"--quiet",
	"--force",
];
const git = spawn("git", args, { env: environment(), stdio: ["pipe", "pipe", "inherit"] });
const lines = createInterface({ input: git.stdout })[Symbol.asyncIterator]();

function commitOf(
	layer: { smallkey: string; registration: Parameters<typeof canonicalText>[0] },
	isFirst: boolean,
): string {
	const { registration } = layer;
	const en = { ...registration.en, service_name: `Round ${round}` } as typeof registration.en;
	const body = canonicalText({ ...registration, en } as typeof registration);
	const message = `register ${layer.smallkey}`;
	return [
		"commit refs/heads/main\n",
		`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
		`data ${Buffer.byteLength(message)}\n${message}\n`,
		isFirst ? "from refs/heads/main^0\n" : "",
		`M 100644 inline ${layerPath(layer.smallkey)}\ndata ${Buffer.byteLength(body)}\n${body}\n`,
	].join("");
}

/** Puts a folder's names on the disk. */
function syncFolder(name: string): void {
	const folder = openSync(join(repository, name), "r");
	fsyncSync(folder);
	closeSync(folder);
}

const layers = [...generateLayers(count)];
const start = performance.now();
for (let first = 0; first < count; first += group) {
	const commits = layers
		.slice(first, first + group)
		.map((layer, index) => commitOf(layer, first + index === 0));
	git.stdin.write(`${commits.join("")}checkpoint\nprogress checked\n`);
	await lines.next();
	syncFolder("objects/pack");
	syncFolder("refs/heads");
}
console.log((performance.now() - start) / 1000);
git.stdin.end();
await once(git, "close");
