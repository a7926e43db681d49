import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import * as assert from "uvu/assert";
import { review } from "../review/review.ts";
import { readBatch, storeBatch } from "../scripts/move/batch.ts";
import { run as validate } from "../scripts/validate.ts";
import { judgePush } from "../store/hook/push.ts";
import { isRefusal } from "../store/store.ts";
import { feature, Local, wms } from "./helpers/local.ts";
import { runScript } from "./helpers/process.ts";
import { test } from "./helpers/suite.ts";
import { type Files, Repository, temporaryFolder } from "./helpers/world.ts";
import { ownersFile } from "./review/repository.ts";

/** The ways by which a change comes in. */
type Door = "PUT" | "update" | "push" | "review" | "validate" | "batch" | "build";

/** A change of `stored`, and what each door that it can come through says of it: nothing, where it is accepted. */
interface Row {
	files: Files;
	/** By whom a PUT is signed. */
	sender?: string;
	answers: Partial<Record<Door, string[]>>;
}

const stored: Record<string, string> = {
	"layers/owners.json": ownersFile,
	"layers/on/one.json": wms("one"),
	"layers/fe/feature.json": feature,
	"layers/fe/feature.service.json": "{}",
};

/** Doors through which files come, wherever they lie, and know what is stored. */
const inFiles: Door[] = ["push", "review", "validate", "batch"];
/** Doors of a new registration. */
const written: Door[] = ["PUT", ...inFiles];
const all: Door[] = [...written, "update", "build"];

const rows: Record<string, Row> = {
	"the case twin of a stored key": {
		files: { "layers/on/ONE.json": wms("two") },
		answers: {
			...every(written, "smallkey: ONE differs only in case from one, which is registered"),
			...every(["build"], "smallkey: one differs only in case from ONE, which is registered"),
		},
	},
	"case twins in one change": {
		files: { "layers/tw/TWO.json": wms("two"), "layers/tw/two.json": wms("two") },
		answers: {
			...every(["PUT", "build"], "smallkey: two differs only in case from TWO, which is registered"),
			...every(inFiles, "smallkey: two differs only in case from TWO, which the same change registers"),
		},
	},
	"an address that is no http address": {
		files: { "layers/tw/two.json": wms("two").replace(/"http:/, '"ftp:') },
		answers: every(
			all,
			'/en/service_url: must be an http or https address, not "ftp://wms.ess-ws.nrcan.gc.ca/wms/toporama_en"',
		),
	},
	"an address of another kind of service": {
		files: { "layers/tw/two.json": feature.replace("MapServer/1", "MapServer") },
		answers: {
			...every(
				[...written, "update"],
				"/en/service_url: must end with the number of one layer: …/MapServer is a whole service",
			),
			// What was stored before this rule is still built.
			...every(["build"]),
		},
	},
	"no JSON": {
		files: { "layers/tw/two.json": '{\n"version": }' },
		answers: every(all, "the document must be JSON: line 2, column 12 must be a value"),
	},
	"a member that is not known": {
		files: { "layers/tw/two.json": wms("two").replace("{", '{"owner":"us",') },
		answers: every(all, "/owner: is not a known member"),
	},
	"a registration of 70 kB": {
		files: { "layers/tw/two.json": wms("two").padEnd(70_000) },
		answers: {
			...every(["PUT", "update"], "the body must have at most 65536 bytes"),
			...every([...inFiles, "build"], "must have at most 65536 bytes"),
		},
	},
	"a key that the file system of Windows reserves": {
		files: { "layers/co/con.json": wms("two") },
		answers: every(all),
	},
	"a key with a space": {
		files: { "layers/tw/two b.json": wms("two") },
		answers: every(all, 'smallkey: must be 1 to 64 of A-Z a-z 0-9 _ - + =, not "two b"'),
	},
	"a sender who may change other keys only": {
		files: { "layers/ot/other.json": wms("two") },
		sender: "narrow",
		answers: every(
			["PUT", "update"],
			"smallkey: sender narrow may change these keys only: ab* x?; not other",
		),
	},
	"the removal of a key that is not registered": {
		files: { "layers/un/unknown.json": null },
		answers: every(["PUT", "update"], "smallkey: unknown is not registered"),
	},
	"a file in another folder": {
		files: { "layers/xy/two.json": wms("two") },
		answers: every([...inFiles, "build"], "must be at layers/tw/two.json"),
	},
	"a file that is no layer's": {
		files: { "layers/tw/two.sh": "exit" },
		answers: every([...inFiles, "build"], "must be named <smallkey>.json or <smallkey>.service.json"),
	},
	"a symbolic link": {
		files: { "layers/tw/two.json": { link: "/etc/passwd" } },
		answers: every([...inFiles, "build"], "must be a plain file, not a symlink"),
	},
	"a file that may be executed": {
		files: { "layers/tw/two.json": { executable: wms("two") } },
		answers: every([...inFiles, "build"]),
	},
	"a service description that is none": {
		files: { "layers/fe/feature.service.json": '{"en":1}' },
		answers: every(
			["push", "review"],
			"must be a service description, as npx fragment-publisher harvest writes it",
		),
	},
	"a service description without its layer": {
		files: { "layers/tw/two.service.json": "{}" },
		answers: every(
			["push", "review", "validate", "build"],
			"describes a layer that is not at layers/tw/two.json",
			"must be a service description, as npx fragment-publisher harvest writes it",
		),
	},
	"a layer that goes without its service description": {
		files: { "layers/fe/feature.json": null },
		answers: every(["push", "review"], "describes a layer that is not at layers/fe/feature.json"),
	},
	"owners that are none": {
		files: { "layers/owners.json": "{}" },
		answers: every(["push", "review", "validate"], "/operators: is missing", "/layers: is missing"),
	},
	"owners that go": {
		files: { "layers/owners.json": null },
		answers: every(["push", "review"], "must not be removed"),
	},
	"owners behind a link": {
		files: { "layers/owners.json": { link: "/etc/passwd" } },
		answers: every(["push", "review", "validate"], "must be a plain file, not a symlink"),
	},
	"owners of 2 MB": {
		files: { "layers/owners.json": ownersFile.padEnd(2_000_000) },
		answers: every(["push", "review", "validate"], "must have at most 1048576 bytes"),
	},
	"a file called layers": {
		files: { layers: "text" },
		answers: every(["push", "review"], "must be a folder", "must not be removed"),
	},
};

function every(doors: Door[], ...says: string[]): Partial<Record<Door, string[]>> {
	return Object.fromEntries(doors.map((door) => [door, says]));
}

/** What a door says, without the name of the file that it is about. */
function withoutFile(line: string, names: readonly string[]): string {
	const name = names.find((one) => line.startsWith(`${one}: `));
	return name === undefined ? line : line.slice(name.length + 2);
}

const paths = (files: Files) => [...Object.keys(files), ...Object.keys(stored)];

/** Writes files below a folder, as they are in a checkout. @returns their paths */
async function writeFiles(folder: string, files: Files): Promise<string[]> {
	const written: string[] = [];
	for (const [name, content] of Object.entries(files)) {
		const path = join(folder, name);
		await mkdir(dirname(path), { recursive: true });
		await rm(path, { force: true });
		if (content === null) continue;
		if (typeof content === "string") await writeFile(path, content);
		else if ("link" in content) await symlink(content.link, path);
		else await writeFile(path, content.executable, { mode: 0o755 });
		written.push(path);
	}
	return written;
}

async function withLocal<T>(body: (local: Local) => Promise<T>): Promise<T> {
	const local = await Local.open({ files: stored });
	try {
		return await body(local);
	} finally {
		await local.end();
	}
}

async function withFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
	await using folder = await temporaryFolder();
	const { path } = folder;
	return await body(path);
}

async function withChange<T>(files: Files, body: (repository: Repository) => Promise<T>): Promise<T> {
	using repository = new Repository(stored);
	repository.propose(files);
	return await body(repository);
}

/** Each door's answer to a change; of what it refuses, nothing is stored. */
const ask: Record<Door, (row: Row) => Promise<string[]>> = {
	PUT: ({ files, sender = "jstest" }) =>
		withLocal(async (local) => {
			const errors: string[] = [];
			for (const [path, content] of Object.entries(files)) {
				const method = content === null ? "DELETE" : "PUT";
				const smallkey = path.slice(path.lastIndexOf("/") + 1, -".json".length);
				const target = `/register/${encodeURIComponent(smallkey)}`;
				const body = typeof content === "string" ? content : "";
				const before = await local.state();
				const answer = await local.write({ method, target, body, sender });
				if (answer.status < 400) continue;
				errors.push(...((await answer.json()) as { errors: string[] }).errors);
				assert.is(await local.state(), before);
			}
			return errors;
		}),
	update: ({ files, sender = "jstest" }) =>
		withLocal(async (local) => {
			const errors: string[] = [];
			for (const [path, content] of Object.entries(files)) {
				const smallkey = path.slice(path.lastIndexOf("/") + 1, -".json".length);
				const body = typeof content === "string" ? content : '{"en":{}}';
				if (content !== null) await local.put(smallkey, body.includes('"wms"') ? wms("before") : feature);
				local.now += 1000;
				const before = await local.state();
				const target = `/v2/update/${encodeURIComponent(smallkey)}`;
				const answer = await local.write({ target, body, sender });
				if (answer.status < 400) continue;
				errors.push(...((await answer.json()) as { errors: string[] }).errors);
				assert.is(await local.state(), before);
			}
			return errors;
		}),
	push: ({ files }) =>
		withChange(files, async (repository) => {
			const [from = "", to = ""] = repository.git("rev-parse", "main", "head").split("\n");
			const update = { from, to, ref: "refs/heads/main" };
			const { isAccepted, lines } = await judgePush(repository.path, undefined, [update]);
			if (isAccepted) return [];
			assert.is(lines[0], "refused, and nothing was changed:");
			return lines.slice(1).map((line) => withoutFile(line, paths(files)));
		}),
	review: ({ files }) =>
		withChange(files, async (repository) => {
			const settings = { metadataUrl: "", catalogueUrl: "" };
			const check = async () => ({ findings: [] });
			const options = { repository: repository.path, base: "main", head: "head", settings, check };
			return (await review(options)).problems.map(({ text }) => text);
		}),
	validate: ({ files }) =>
		withFolder(async (folder) => {
			await writeFiles(folder, stored);
			const names = await writeFiles(folder, files);
			let output = "";
			const io = {
				print: () => undefined,
				warn: (text: string) => {
					output += `${text}\n`;
				},
				now: () => new Date(0),
				ask: async () => null,
				interrupted: () => new AbortController().signal,
			};
			const code = await validate(names, {}, io);
			const shown = output.split("\n").slice(1, -1);
			const lines = shown.filter((line) => !line.startsWith("warning: "));
			assert.is(code, lines.length > 0 ? 1 : 0);
			return lines.map((line) => withoutFile(line, paths(files)));
		}),
	batch: ({ files }) =>
		withFolder(async (folder) => {
			const shown = await writeFiles(folder, files);
			const { registrations, problems } = await readBatch(join(folder, "layers"));
			if (problems.length > 0)
				return problems.map((line) => withoutFile(line, shown).replace(`${folder}/`, ""));
			return withLocal(async (local) => {
				const before = await local.state();
				const meta = { sender: "operator", time: local.now, review: false };
				const outcome = await storeBatch(local.store, registrations, meta);
				if (!isRefusal(outcome)) return [];
				assert.is(await local.state(), before);
				return outcome.errors;
			});
		}),
	// It does not know what was stored before: the first of two case twins by path is the one that is kept.
	build: ({ files }) =>
		withFolder(async (folder) => {
			const { "layers/fe/feature.service.json": _notValid, ...valid } = stored;
			await writeFiles(folder, { ...valid, ...files });
			const words = ["--layers", join(folder, "layers"), "--out", join(folder, "dist")];
			const { stdout, stderr, code } = await runScript("build", words, { SITE: "off" });
			if (code === 0) return [];
			assert.is(stdout, "");
			assert.not.ok(existsSync(join(folder, "dist")));
			const lines = stderr.split("\n").slice(1, -2);
			return lines.map((line) => withoutFile(line, paths(files)));
		}),
};

for (const [title, row] of Object.entries(rows)) {
	for (const [door, says] of Object.entries(row.answers)) {
		test(`${title}: ${door}`, async () => {
			assert.equal((await ask[door as Door](row)).sort(), [...says].sort());
		});
	}
}

test.run();
