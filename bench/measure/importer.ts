// Feeds git fast-import the commits that PUTs would make, one after the other. Reads one JSON document, prints seconds.
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
	/** Part of the written files, so that every commit changes something. */
	round: number;
}

const { repository, count, round } = JSON.parse(await text(process.stdin)) as Order;
const settings = ["core.fsync=committed", "core.fsyncMethod=fsync", "fastimport.unpackLimit=0"];
const words = [...settings.flatMap((setting) => ["-c", setting]), "-C", repository];
const git = spawn("git", [...words, "fast-import", "--quiet", "--force"], {
	env: environment(),
	stdio: ["pipe", "pipe", "inherit"],
});
const lines = createInterface({ input: git.stdout })[Symbol.asyncIterator]();

/** Puts a folder's names on the disk. */
function syncFolder(name: string): void {
	const folder = openSync(join(repository, name), "r");
	fsyncSync(folder);
	closeSync(folder);
}

const layers = [...generateLayers(count)];
const start = performance.now();
for (const [index, { smallkey, registration }] of layers.entries()) {
	const en = { ...registration.en, service_name: `Round ${round}` };
	const body = canonicalText({ ...registration, en });
	const message = `register ${smallkey}`;
	const commit = [
		"commit refs/heads/main\n",
		`committer bench <bench@sender.invalid> ${Math.floor(Date.now() / 1000)} +0000\n`,
		`data ${Buffer.byteLength(message)}\n${message}\n`,
		index === 0 ? "from refs/heads/main^0\n" : "",
		`M 100644 inline ${layerPath(smallkey)}\ndata ${Buffer.byteLength(body)}\n${body}\n`,
	];
	git.stdin.write(`${commit.join("")}checkpoint\nprogress checked\n`);
	await lines.next();
	syncFolder("objects/pack");
	syncFolder("refs/heads");
}
console.log((performance.now() - start) / 1000);
git.stdin.end();
await once(git, "close");
