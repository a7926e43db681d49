import { existsSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { readBatch } from "../extensions/import/commands/register.ts";
import { storeBatch } from "../extensions/import/store-batch.ts";
import { review } from "../extensions/review/review.ts";
import { textsOf } from "../registry/texts.ts";
import { isRefusal } from "../store/decide.ts";
import { judgePush } from "../store/hook/push.ts";
import { feature, Handlers, wms } from "./helpers/handlers.ts";
import { runScript } from "./helpers/process.ts";
import { type Files, Repository, sharedSuite, temporaryFolder, words, writeFiles } from "./helpers/world.ts";

type Door = "PUT" | "update" | "push" | "review" | "validate" | "batch" | "build";

const ownersFile = '{"operators":["@maps/operators"],"layers":{"*":["@maps/reviewers"]}}';
const stored: Record<string, string> = {
	"layers/owners.json": ownersFile,
	"layers/on/one.json": wms("one"),
	"layers/fe/feature.json": feature,
	"layers/fe/feature.service.json": "{}",
};

interface Scene {
	repository: Repository;
	folder: () => string;
}

const test = sharedSuite<Scene>("a change", async (use) => {
	const repository = use(new Repository(stored));
	const { path } = use(await temporaryFolder());
	return { repository, folder: () => mkdtempSync(join(path, "change-")) };
});

/** The problem in a line of output, without its file. */
const withoutFile = (line: string) => line.replace(/^\S*layers\S*: /, "");

const smallkeyOf = (path: string) => path.slice(path.lastIndexOf("/") + 1, -".json".length);

/** Sends each file of a change as a request. A refusal stores nothing. @returns the errors of the answers */
async function send(prefix: string, files: Files, sender: string) {
	const service = new Handlers(stored);
	const errors: string[] = [];
	for (const [path, content] of Object.entries(files)) {
		const target = prefix + encodeURIComponent(smallkeyOf(path));
		const method = content === null ? "DELETE" : "PUT";
		const before = await service.state();
		const answer = await service.write({ method, target, body: String(content ?? ""), sender });
		if (answer.status < 400) continue;
		errors.push(...((await answer.json()) as { errors: string[] }).errors);
		assert.is(await service.state(), before);
	}
	return errors;
}

/** The problems that each door finds in a change; none if it accepts it. */
const problemsBy: Record<Door, (files: Files, scene: Scene, sender: string) => Promise<string[]>> = {
	PUT: (files, _scene, sender) => send("/register/", files, sender),
	update: (files, _scene, sender) => send("/v2/update/", files, sender),
	push: async (files, { repository }) => {
		repository.propose(files);
		const [from = "", to = ""] = repository.git("rev-parse", "main", "head").split("\n");
		const update = { from, to, ref: "refs/heads/main" };
		const { isAccepted, lines } = await judgePush(repository.path, null, [update]);
		assert.equal([isAccepted, lines[0]], [false, "refused, and nothing was changed:"]);
		return lines.slice(1).map(withoutFile);
	},
	review: async (files, { repository }) => {
		repository.propose(files);
		const settings = { metadataUrl: "", catalogueUrl: "" };
		const check = async () => [];
		const options = { repository: repository.path, base: "main", head: "head", settings, check };
		const { remarks } = await review(options);
		return remarks.filter(({ level }) => level === "error").map(({ text }) => text);
	},
	validate: async (files, { folder }) => {
		const path = folder();
		writeFiles(path, { ...stored, ...files });
		const names = Object.keys(files).map((name) => join(path, name));
		const { code, stderr } = await runScript("validate", names);
		const lines = stderr.split("\n").slice(1, -1);
		const refused = lines.filter((line) => !line.startsWith("warning: "));
		assert.is(code, refused.length > 0 ? 1 : 0);
		return refused.map(withoutFile);
	},
	batch: async (files, { folder }) => {
		const path = folder();
		writeFiles(path, files);
		const { registrations, problems } = await readBatch(join(path, "layers"));
		if (problems.length > 0) return problems.map(withoutFile);
		const service = new Handlers(stored);
		const before = await service.state();
		const meta = { sender: "operator", time: service.now };
		const { outcome } = await storeBatch(service.store, registrations, meta);
		if (!isRefusal(outcome)) return [];
		assert.is(await service.state(), before);
		return textsOf(outcome.errors);
	},
	build: async (files, { folder }) => {
		const path = folder();
		const { "layers/fe/feature.service.json": _notValid, ...valid } = stored;
		writeFiles(path, { ...valid, ...files });
		const options = ["--layers", join(path, "layers"), "--out", join(path, "dist")];
		const { stdout, stderr, code } = await runScript("build", options, { SITE: "off" });
		assert.is(existsSync(join(path, "dist")), code === 0);
		if (code === 0) return [];
		assert.is(stdout, "");
		return stderr.split("\n").slice(1, -2).map(withoutFile);
	},
};

const layerTwo = (text: string): Files => ({ "layers/tw/two.json": text });
const notPlain = "must be a plain file";
const noDescription = "must be a service description, as npx fragment-publisher harvest writes it";
const wholeService = feature.replace("MapServer/1", "MapServer");

// biome-ignore format: a table
const rows: [change: string, doors: string, files: Files, ...problems: string[]][] = [
	["the case twin of a stored key", "PUT batch", { "layers/on/ONE.json": wms("two") }, "smallkey: ONE differs only in case from one, which is registered, waits for review or is in the same change"],
	["case twins in one change", "push", { "layers/tw/TWO.json": wms("two"), ...layerTwo(wms("two")) }, "smallkey: two differs only in case from TWO, which is registered, waits for review or is in the same change"],
	["a new key that Windows keeps for a device", "PUT push review validate batch", { "layers/au/Aux.json": wms("two") }, "smallkey: Aux is a name that Windows keeps for a device: no clone there could check it out"],
	["such a key, stored before that rule", "build", { "layers/au/Aux.json": wms("two") }],
	["a rename in case only", "push review", { "layers/on/one.json": null, "layers/on/One.json": wms("one") }, "smallkey: One differs only in case from one, which is registered, waits for review or is in the same change"],
	["a name without a visible character", "PUT update push review validate batch", { "layers/on/one.json": wms("one").replace('"layer"', '"service_name":" ","layer"') }, '/en/service_name: must be visible text on one line, or empty, not " "'],
	["an address of another kind of service", "batch", layerTwo(wholeService), "/en/service_url: must end with the number of one layer: …/MapServer is a whole service"],
	["such an address, stored before that rule", "build", layerTwo(wholeService)],
	["a body of 70 kB", "PUT", layerTwo(wms("two").padEnd(70_000)), "the document: must have at most 65536 bytes"],
	["a file of 70 kB", "push", layerTwo(wms("two").padEnd(70_000)), "the document: must have at most 65536 bytes"],
	["a file in another folder", "validate", { "layers/xy/two.json": wms("two") }, "must be at layers/tw/two.json"],
	["a symbolic link", "batch review", { "layers/tw/two.json": { link: "/etc/passwd" } }, notPlain],
	["a service description of another form", "push review", { "layers/fe/feature.service.json": '{"en":1}' }, noDescription],
	["a service description without its layer", "build", { "layers/tw/two.service.json": "{}" }, "there is no layer layers/tw/two.json: remove this file, or add the layer", noDescription],
	["removed owners", "push review", { "layers/owners.json": null }, "must not be removed"],
	["owners behind a link", "review", { "layers/owners.json": { link: "/etc/passwd" } }, notPlain],
	["a file called layers", "push", { layers: "text" }, "must be in the folder layers, in lower case", "must not be removed"],
];

for (const [change, doors, files, ...problems] of rows)
	for (const door of words(doors) as Door[])
		test(`with ${change}, by ${door}: ${problems.length > 0 ? "refused" : "accepted"}`, async (scene) => {
			assert.equal((await problemsBy[door](files, scene, "jstest")).sort(), problems.toSorted());
		});

for (const door of ["PUT", "update"] as const)
	test(`by ${door} of a sender who may change other keys only: refused`, async (scene) => {
		assert.equal(await problemsBy[door]({ "layers/on/one.json": wms("two") }, scene, "narrow"), [
			"smallkey: sender narrow may change these keys only: ab* x?; not one",
		]);
	});

test.run();
