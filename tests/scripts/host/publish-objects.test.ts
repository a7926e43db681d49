import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { layers, wms } from "../../conformance/engine.ts";
import { buildDist } from "../../conformance/engines.ts";
import { exits, runScript, warns } from "../../helpers/process.ts";
import { freshSuite, runUnless, temporaryFolder } from "../../helpers/world.ts";
import { missingS3, type S3Peer, startS3 } from "./s3-server.ts";

let peer: S3Peer;
let folder: string;
let dist: string;

const test = freshSuite("publish-objects", async (use) => {
	folder = use(await temporaryFolder()).path;
	dist = await buildDist(layers, folder, false, ["v0.9"]);
	peer = use(await startS3());
});

function run(...words: string[]) {
	return runScript("publish-objects", ["--dist", dist, ...words], peer.env);
}

/** The fragments of the build, and their texts. */
async function built(): Promise<Map<string, string>> {
	const texts = new Map<string, string>();
	for (const lang of ["en", "fr"]) {
		for (const name of await readdir(join(dist, "v0.9/doc", lang))) {
			const path = `v0.9/doc/${lang}/${name}`;
			texts.set(path, await readFile(join(dist, path), "utf8"));
		}
	}
	return texts;
}

async function assertInStep(): Promise<void> {
	for (const [name, text] of await built()) {
		const object = await peer.read(name);
		assert.is(object.status, 200, name);
		assert.is(object.text, text, name);
	}
}

function changes(): string[] {
	const writes = peer.passed.filter(({ method, name }) => method !== "GET" && name !== "manifest.json");
	return writes.map(({ method, name }) => `${method} ${name}`).sort();
}

test("the first publication uploads everything, with type and caching, in a store that checks signatures", async () => {
	const { stdout } = await exits(run(), 0);
	assert.is(stdout, "18 uploaded, 0 removed, 0 unchanged\n");
	await assertInStep();
	const { headers } = await peer.read("v0.9/doc/en/a+b=c");
	assert.is(headers.get("content-type"), "application/json; charset=utf-8");
	assert.match(headers.get("cache-control") ?? "", /^public, max-age=60,/);
	assert.is(peer.passed.at(-1)?.name, "manifest.json", "the manifest is written last");
});

test("the pictures of layers are uploaded with the catalogue", async () => {
	await mkdir(join(dist, "assets/pictures/ab"), { recursive: true });
	await writeFile(join(dist, "assets/pictures/ab/0123456789.webp"), "picture");
	assert.is((await run()).stdout, "19 uploaded, 0 removed, 0 unchanged\n");
	const { status, headers, text } = await peer.read("assets/pictures/ab/0123456789.webp");
	assert.equal([status, headers.get("content-type"), text], [200, "image/webp", "picture"]);
});

test("the next publication uploads what changed, and then removes what was deleted", async () => {
	await run();
	peer.passed.length = 0;
	const same = await run();
	assert.is(same.stdout, "0 uploaded, 0 removed, 18 unchanged\n");
	const found = peer.passed.map(({ method }) => method);
	assert.equal(found, ["GET"], "only the manifest is read");

	const next = new Map(layers).set("23ax5t", wms("other")).set("new", wms("new"));
	next.delete("a+b=c");
	await rm(join(folder, "layers"), { recursive: true });
	await buildDist(next, folder, false, ["v0.9"]);
	peer.passed.length = 0;
	const dry = await run("--dry-run");
	assert.is(
		dry.stdout,
		`${["en/23ax5t", "en/new", "fr/23ax5t", "fr/new"].map((path) => `upload v0.9/doc/${path}\n`).join("")}${["en/a+b=c", "fr/a+b=c"].map((path) => `remove v0.9/doc/${path}\n`).join("")}4 to upload, 2 to remove, 14 unchanged; nothing was changed\n`,
	);
	assert.equal(changes(), []);
	const { stdout } = await run();
	assert.is(stdout, "4 uploaded, 2 removed, 14 unchanged\n");
	await assertInStep();
	assert.is((await peer.read("v0.9/doc/en/a+b=c")).status, 404);
	const methods = peer.passed.filter(({ name }) => name !== "manifest.json").map(({ method }) => method);
	assert.equal(methods, ["PUT", "PUT", "PUT", "PUT", "DELETE", "DELETE"], "nothing goes before all is there");
});

test("an interrupted publication leaves the old one in service, and the next run continues it", async () => {
	await run();
	const before = await built();
	const next = new Map([...layers].map(([smallkey]) => [smallkey, wms(`next ${smallkey}`)] as const));
	next.delete("feature");
	await rm(join(folder, "layers"), { recursive: true });
	await buildDist(next, folder, false, ["v0.9"]);
	const after = await built();

	peer.passed.length = 0;
	let left = 5;
	peer.fault = (method, name) =>
		method === "PUT" && name !== "manifest.json" && left-- <= 0 ? "cut" : undefined;
	const cut = await warns(run(), 2, /^PUT v0\.9\/doc\/(?:en|fr)\/\S+: /);
	assert.not.match(cut.stderr, /S3RVER/);
	for (const [name, text] of before) {
		const object = await peer.read(name);
		assert.is(object.status, 200, `${name} is still served`);
		assert.ok([text, after.get(name)].includes(object.text), `${name} is whole: the old one or the new one`);
	}
	const uploaded = changes();
	assert.is(uploaded.length, 5);

	peer.fault = () => undefined;
	peer.passed.length = 0;
	const { stdout } = await run();
	assert.is(stdout, "25 uploaded, 2 removed, 5 unchanged\n");
	const others = changes().filter((change) => uploaded.includes(change));
	assert.equal(others, []);
	await assertInStep();
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 404);
});

test("after a failure no further object is begun", async () => {
	for (let count = 0; count < 60; count += 1) await writeFile(join(dist, `v0.9/doc/en/more${count}`), "{}");
	const refused: string[] = [];
	peer.fault = (method, name) => {
		if (method !== "PUT" || name === "manifest.json") return undefined;
		refused.push(name);
		return 403;
	};
	await exits(run(), 2);
	assert.ok(refused.length > 0 && refused.length <= 32, `${refused.length}`);
});

test("an object left by an interrupted publication is removed once its layer is deleted", async () => {
	let manifests = 0;
	// Cut so hard that not even the manifest can be written at the end.
	peer.fault = (_method, name) => (name === "manifest.json" && ++manifests > 2 ? "cut" : undefined);
	await exits(run(), 2);
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 200);

	const next = new Map(layers);
	next.delete("feature");
	await rm(join(folder, "layers"), { recursive: true });
	await buildDist(next, folder, false, ["v0.9"]);
	peer.fault = () => undefined;
	const { stdout } = await run();
	assert.is(stdout, "16 uploaded, 2 removed, 0 unchanged\n");
	assert.is((await peer.read("v0.9/doc/en/feature")).status, 404);
});

test("a store that is busy for a moment is asked again", async () => {
	const asked = new Map<string, number>();
	peer.fault = (_method, name) => {
		asked.set(name, (asked.get(name) ?? 0) + 1);
		if (asked.get(name) !== 1) return undefined;
		return name.includes("/en/") ? 503 : name.includes("/fr/") ? 429 : undefined;
	};
	await exits(run(), 0);
	await assertInStep();
});

test("a wrong key, a bucket that is not there and a spoiled manifest are reported, and nothing is changed", async () => {
	const wrong = { ...peer.env, AWS_SECRET_ACCESS_KEY: "another secret" };
	const forbidden = await warns(runScript("publish-objects", ["--dist", dist], wrong), 2, [
		/manifest\.json in the bucket fragments: the store answers 403 SignatureDoesNotMatch/,
	]);
	assert.not.match(forbidden.stderr, /another secret|^\s+at /m);

	const elsewhere = { ...peer.env, OBJECTS_BUCKET: "no-such-bucket" };
	const missing = await exits(runScript("publish-objects", ["--dist", dist], elsewhere), 2);
	assert.match(missing.stderr, /no-such-bucket: the store answers 404 NoSuchBucket/);

	const unset = await exits(runScript("publish-objects", ["--dist", dist], {}), 2);
	assert.is(unset.stderr.trim().split("\n").length, 4, "every variable that is missing");
	assert.equal(changes(), []);

	await exits(run(), 0);
	const manifest = (await peer.read("manifest.json")).text;
	assert.ok(JSON.parse(manifest).objects["v0.9/doc/en/23ax5t"]);
	await writeFile(join(folder, "x"), "");
	const nothing = await exits(runScript("publish-objects", ["--dist", join(folder, "none")], peer.env), 2);
	assert.match(nothing.stderr, /none: has no fragments/);
	await assertInStep();
});

test("--all uploads what the manifest says is there", async () => {
	await run();
	assert.is((await run("--all")).stdout, "18 uploaded, 0 removed, 0 unchanged\n");
});

runUnless(missingS3, test);
