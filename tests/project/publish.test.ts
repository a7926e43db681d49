import { execFile } from "node:child_process";
import { createHmac } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import * as assert from "uvu/assert";
import { chunkOf } from "../../registry/entries.ts";
import { parseRegistration } from "../../registry/registration.ts";
import { receipt } from "../../registry/schemas/answers.ts";
import { registration1, registration2 } from "../../registry/schemas/registration.ts";
import { manual } from "../helpers/local.ts";
import {
	cleanEnvironment,
	type Ended,
	exits,
	pathWithNpx,
	prints,
	root,
	ServerProcess,
	warns,
} from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { sharedSuite, temporaryFolder, writeFiles } from "../helpers/world.ts";

const page = await readFile(join(root, "docs/publish.md"), "utf8");
const reference = await readFile(join(root, "docs/registration.md"), "utf8");
const frenchReference = await readFile(join(root, "docs/fr/registration.md"), "utf8");

/** The fenced blocks of one language, in order. */
function blocks(language: string, text = page): string[] {
	const fenced = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, "gms");
	return [...text.matchAll(fenced)].map((match) => match[1] as string);
}

interface Member {
	description?: string;
	$ref?: string;
}

const definitions = registration1.definitions as unknown as Record<string, Member>;

/** Rows of a table of members, as the schema describes them. */
function rows(members: Record<string, Member>): string[] {
	return Object.entries(members).map(([name, member]) => {
		const meant = member.$ref ? definitions[member.$ref.replace("#/definitions/", "")] : undefined;
		const text = member.description ?? meant?.description;
		assert.ok(text, `${name}: the schema does not describe it`);
		return `| \`${name}\` | ${text.replace(/\b(wms|feature): /g, "`$1`: ")} |`;
	});
}

/** A secret with bytes that a shell or openssl could take for something else. */
const secret = "a secret: -x $é that is longer than sixteen bytes";

const test = sharedSuite("docs/publish.md", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	const senders = { publisher: secret, proposer: { key: "proposer's secret", review: true } };
	const env = { SITE: "on", PUBLIC_URL: "https://fragments.example", SENDERS: JSON.stringify(senders) };
	const server = use(await ServerProcess.start({ DATA_DIR: folder, ...env }));
	writeFiles(folder, { "layer.json": blocks("json")[0] as string, empty: "" });
	return { folder, server };
});

test("the members of a registration are those of the schema, in its words", () => {
	const [first = "", second = ""] = reference.split("\n## Version 2.0\n");
	const tables = [...first.matchAll(/^\| member \| meaning \|\n\|---\|---\|\n((?:\|.*\|\n)+)/gm)];
	const shown = tables.map(([, body]) => (body as string).trim().split("\n"));
	assert.equal(shown, [rows(registration1.properties), rows(registration1.definitions.lang.properties)]);
	const frenchNames = [...frenchReference.matchAll(/^\| (`\w+`) \|/gm)].map(([, name]) => name);
	const expected = shown.flat().map((row) => row.split(" ")[1]);
	assert.equal(frenchNames, expected, "docs/fr/registration.md");
	const { definitions: kinds } = registration2;
	for (const kind of [kinds.esriFeature, kinds.esriPicture, kinds.ogc, kinds.esriService])
		for (const name of Object.keys(kind.properties))
			for (const text of [second, frenchReference]) assert.match(text, `\`${name}\``, name);
});

test("the registrations of the pages are right, with one of each kind of service", () => {
	const nodes = blocks("jsonl", reference).flatMap((block) => block.trim().split("\n"));
	const inBoth = nodes.map((node) => `{ "version": "2.0", "en": ${node}, "fr": ${node} }`);
	const texts = [...blocks("json"), ...blocks("json", reference), ...inBoth];
	const { esriPicture, ogc, esriService } = registration2.definitions;
	const kinds = [esriPicture, ogc, esriService].flatMap(({ properties }) => properties.service_type.enum);
	for (const kind of ["esriFeature", ...kinds])
		assert.ok(
			texts.some((text) => text.includes(`"service_type": "${kind}"`)),
			kind,
		);
	for (const text of texts) {
		assert.equal(parseRegistration(new TextEncoder().encode(text), "written").problems, []);
	}
});

/** The names before the colon of each item of the list below a line. */
function namesBelow(line: string): string[] {
	const [, list = ""] = new RegExp(`${line}\n\n((?:- .*\n)+)`).exec(page) ?? [];
	return [...list.matchAll(/^- ([^:]+):/gm)].flatMap(([, names = ""]) =>
		[...names.matchAll(/`(\w+)`/g)].map(([, name]) => name as string),
	);
}

async function shell(text: string, cwd: string, variables: Record<string, string>): Promise<Ended> {
	const env = cleanEnvironment({ ...variables, PATH: pathWithNpx() });
	return promisify(execFile)("sh", ["-c", text], { cwd, env }).then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		({ code, stdout, stderr }) => ({ code, stdout, stderr }),
	);
}

test("the list of a receipt is that of real answers, but for GitHub's member", async ({ server, folder }) => {
	const names = namesBelow("has a receipt:");
	const answers: object[] = [];
	for (const [SENDER, SENDER_SECRET] of [
		["publisher", secret],
		["proposer", "proposer's secret"],
	] as const) {
		const { code, stdout, stderr } = await shell(
			'npx fragment-publisher put receipt-$SENDER layer.json --url "$URL" --sender "$SENDER"',
			folder,
			{ URL: server.url, SENDER, SENDER_SECRET },
		);
		assert.is(code, 0, stderr);
		answers.push(JSON.parse(stdout.slice(stdout.indexOf("{"))));
	}
	const real = new Set(answers.flatMap((answer) => Object.keys(answer)));
	assert.equal([...names].sort(), [...real, "pull_request"].sort());
	assert.equal([...names].sort(), Object.keys(receipt.properties).sort());
});

test("many layers are not sent if a file is wrong; a refusal names its layer", async ({ server, folder }) => {
	const [line = ""] = page.match(/npx fragment-publisher register my-layers --url .*/) ?? [];
	const command = line.replace("https://fragments.example", server.url).replace("<id>", "publisher");
	const send = () => shell(command, folder, { SENDER_SECRET: secret });
	const fileOf = (key: string) => join(folder, "my-layers", `${key}.json`);
	const statusOf = async (key: string) => (await fetch(`${server.url}/v0.9/doc/en/${key}`)).status;
	await mkdir(join(folder, "my-layers"));
	for (const key of ["many-1", "many-2", "many 3"]) await writeFile(fileOf(key), blocks("json")[0] as string);
	await warns(send(), 1, "many 3");
	assert.is(await statusOf("many-1"), 404);
	await rm(fileOf("many 3"));
	await exits(send(), 0);
	for (const key of ["many-1", "many-2"]) assert.is(await statusOf(key), 200, key);
	await rename(fileOf("many-2"), fileOf("MANY-2"));
	const refused = await warns(send(), 1, "smallkey: MANY-2 differs only in case from many-2");
	assert.match(refused.stdout, "0 changed, 1 as they were, 1 refused, of 2 layers");
});

test("layers that the folder no longer has are removed by the page's command", async ({ server, folder }) => {
	const [line = ""] =
		page.match(/npx fragment-publisher register my-layers --url .* --remove-others .*/) ?? [];
	const command = `${line.replace("https://fragments.example", server.url).replace("<id>", "publisher")} --yes`;
	const fileOf = (key: string) => join(folder, "my-layers", `${key}.json`);
	await rm(fileOf("MANY-2"));
	for (const key of ["energy-1", "energy-2"]) await writeFile(fileOf(key), blocks("json")[0] as string);
	const first = await shell(command, folder, { SENDER_SECRET: secret });
	assert.match(first.stdout, "2 changed, 1 as they were, of 3 layers", first.stderr);
	await rm(fileOf("energy-2"));
	// The catalogue has a new layer a moment after its registration.
	await eventually(async () => {
		const answer = await fetch(`${server.url}/index/index.json`);
		const { chunks = [] } = answer.ok ? ((await answer.json()) as { chunks: (string | null)[] }) : {};
		const path = chunks[chunkOf("energy-2")];
		return path ? (await (await fetch(`${server.url}/${path}`)).text()).includes('"energy-2"') : false;
	});
	const second = await shell(command, folder, { SENDER_SECRET: secret });
	assert.match(second.stdout, /^removed: energy-2$/m, second.stderr);
	for (const [key, status] of [
		["energy-1", 200],
		["energy-2", 404],
		["many-2", 200],
	] as const)
		assert.is((await fetch(`${server.url}/v0.9/doc/en/${key}`)).status, status, key);
});

interface Client {
	language: string;
	command: string[];
	/** The text that takes the layer away. */
	removing: (text: string) => string;
}

const clients: Client[] = [
	{
		language: "sh",
		command: ["sh", "-c"],
		removing: (text) => text.replace("METHOD=PUT", "METHOD=DELETE").replace("BODY=layer.json", "BODY=empty"),
	},
	{
		language: "python",
		command: ["python3", "-c"],
		removing: (text) => text.replace('method = "PUT"', 'method = "DELETE"'),
	},
];

async function run([program, ...words]: string[], text: string, cwd: string, key?: string): Promise<Ended> {
	const env = cleanEnvironment(key === undefined ? {} : { SECRET: key });
	const options = { cwd, env };
	return promisify(execFile)(program as string, [...words, text], options).then(
		({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
		({ code, stdout, stderr }) => ({ code, stdout, stderr }),
	);
}

test("the signature in Node gives the known answer of the older service's manual", () => {
	const [, expression = ""] = /^ {4}(createHmac\(.*\))$/m.exec(page) ?? [];
	const names = ["createHmac", "secret", "path", "sender", "timestamp", "body"];
	const values = ["test_-k", "/register/23ax5t", "jstest", "2014-12-05T18:28:56.714Z", manual];
	const signature = new Function(...names, `return ${expression}`)(createHmac, ...values);
	assert.is(signature, "v6XaQasyZzcm_Bz4W_p5fO1wbyJKCZnJFEspIXw9elY");
});

for (const { language, command, removing } of clients) {
	const missing = (await run(command, "", root)).code !== 0;
	if (missing) console.log(`skipped: the client in ${language}: ${command[0]} is not installed`);
	const unlessMissing = missing ? test.skip : test;

	unlessMissing(
		`the client in ${language} registers, is refused, and removes`,
		async ({ server, folder }) => {
			const [block = ""] = blocks(language);
			// A key of its own: two clients that sign the same in one second would have the same signature.
			const key = `my-layer-${language}`;
			const text = block.replace("http://127.0.0.1:8080", server.url).replace("my-layer", key);
			assert.is.not(text, block);
			const layer = `${server.url}/v0.9/doc/en/${key}`;
			const unset = await run(command, text, folder);
			assert.is.not(unset.code, 0);
			assert.match(unset.stderr, "is not set: it holds the secret of the sender");
			assert.is((await fetch(layer)).status, 404);

			await prints(run(command, text, folder, secret), 0, `"smallkey":"${key}"`, "201");
			assert.match(await (await fetch(layer)).text(), `"id":"rcs.${key}.en"`);

			const refused = await run(command, text, folder, "another secret");
			assert.is.not(refused.code, 0);
			assert.match(refused.stdout + refused.stderr, "401");
			assert.match(refused.stdout + refused.stderr, '{"errors":["');

			const removal = removing(text);
			assert.is.not(removal, text);
			await prints(run(command, removal, folder, secret), 0, "204");
			assert.is((await fetch(layer)).status, 404);
		},
	);
}

test.run();
