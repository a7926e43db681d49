import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { documentHeaders, pageHeaders } from "../../../api/site-headers.ts";
import { targetNames } from "../../../registry/targets/table.ts";
import { headersFile } from "../../../scripts/host/files.ts";
import { type StaticHostName, staticHosts } from "../../../scripts/host/headers.ts";
import { ask } from "../../conformance/client.ts";
import { layers } from "../../conformance/engine.ts";
import { buildDist, freePort } from "../../conformance/engines.ts";
import { assertReadHeaders } from "../../conformance/reads.ts";
import { exits, root, runScript } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite, temporaryFolder } from "../../helpers/world.ts";

/** A static host that is there to be tried: its program, and how it is started with what `npx fragment-publisher headers` prints. */
interface Program {
	name: StaticHostName;
	command: string;
	/** Everything around the printed text; the words of the command line. */
	start: (printed: string, folder: string) => Promise<string[]>;
}

async function write(folder: string, text: string): Promise<string> {
	const path = join(folder, "server.conf");
	await writeFile(path, text);
	return path;
}

const programs: Program[] = [
	{
		name: "nginx",
		command: "nginx",
		async start(printed, folder) {
			const user = process.getuid?.() === 0 ? "user root;\n" : "";
			const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
				(name) => `${name}_temp_path ${folder}/${name};`,
			);
			const http = `http { access_log off; ${temporary.join(" ")}\n${printed}}`;
			const text = `daemon off;\n${user}pid ${folder}/pid;\nerror_log stderr;\nevents {}\n${http}`;
			return ["-e", "stderr", "-p", folder, "-c", await write(folder, text)];
		},
	},
	{
		name: "apache",
		command: "apache2",
		async start(printed, folder) {
			const modules = [
				"mpm_event",
				"authz_core",
				"headers",
				"rewrite",
				"dir",
				"mime",
				"filter",
				"deflate",
			].map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`);
			const port = /VirtualHost \*:(\d+)/.exec(printed)?.[1];
			const main = `ServerName localhost\nListen 127.0.0.1:${port}\nPidFile ${folder}/pid\nErrorLog ${folder}/error\n`;
			// Debian compresses pages; all types are compressed here.
			const types = "TypesConfig /dev/null\nSetOutputFilter DEFLATE\n";
			return ["-X", "-f", await write(folder, `${modules.join("\n")}\n${main}${types}${printed}`)];
		},
	},
	{
		name: "caddy",
		command: "caddy",
		async start(printed, folder) {
			return [
				"run",
				"--adapter",
				"caddyfile",
				"--config",
				await write(folder, `{\n\tadmin off\n}\n${printed}`),
			];
		},
	},
];

function isInstalled(command: string): boolean {
	try {
		execFileSync("which", [command], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

const test = sharedSuite("headers of static hosts", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	// Apache and its like drop the rights of root.
	await chmod(folder, 0o755);
	const dist = await buildDist(layers, folder, false);
	const words = ["--layers", join(folder, "layers"), "--out", dist];
	await exits(runScript("build", words), 0);
	return { dist, folder };
});

for (const { name, command, start } of programs) {
	test(`${name} serves a build as the service does`, async ({ dist, folder }) => {
		if (!isInstalled(command)) return console.log(`skipped: ${command} is not installed`);
		const port = await freePort();
		const printed = await exits(runScript("headers", [name, "--root", dist, "--port", String(port)]), 0);
		const words = await start(printed.stdout, folder);
		const child = spawn(command, words, {
			stdio: ["ignore", "ignore", "pipe"],
			env: { ...process.env, HOME: folder },
		});
		try {
			await tryHost(`http://127.0.0.1:${port}`, child, name);
			await tryCatalogue(`http://127.0.0.1:${port}`, dist);
		} finally {
			const ended = new Promise((resolve) => child.once("close", resolve));
			child.kill("SIGTERM");
			await ended;
		}
	});
}

/** Files of the catalogue, one of each kind at least, by the paths under which they are asked for. */
function catalogueFilesOf(dist: string): Record<string, string> {
	const named = (folder: string, ending: string) =>
		`${folder}/${readdirSync(join(dist, folder)).find((name) => name.endsWith(ending))}`;
	const files = [
		"index.html",
		"fr/index.html",
		"guide/publish.html",
		"list/index.html",
		"schemas/index.html",
		"index/index.json",
		"changes/feed.xml",
		"schemas/openapi.json",
		"site.json",
		...[".js", ".css"].map((ending) => named("assets", ending)),
		named("index/chunks", ".json"),
		...["en/layer/23ax5t.html", "records/index.json", "robots.txt", "list/fr/index.html", "pages.json"],
	].filter((path) => existsSync(join(dist, path)));
	assert.ok(files.length >= 10, files.join());
	const folders = {
		...{ "en/layer/23ax5t": "en/layer/23ax5t.html", "fr/layer/a+b=c": "fr/layer/a+b=c.html" },
		"": "index.html",
		"en/": "en/index.html",
		"guide/fr/": "guide/fr/index.html",
	};
	return { ...folders, ...Object.fromEntries(files.map((path) => [path, path])) };
}

async function tryCatalogue(origin: string, dist: string): Promise<void> {
	for (const [path, file] of Object.entries(catalogueFilesOf(dist))) {
		const { status, headers, bytes } = await ask(origin, "GET", `/${path}`);
		assert.is(status, 200, path);
		assert.is(bytes.compare(readFileSync(join(dist, file))), 0, path);
		const expected = pageHeaders(file, true);
		for (const [name, value] of Object.entries(expected)) assert.is(headers[name.toLowerCase()], value, path);
		if (!("Access-Control-Allow-Origin" in expected))
			assert.is(headers["access-control-allow-origin"], undefined, path);
		for (const encoding of ["identity", "gzip"]) {
			const asked = { "Accept-Encoding": encoding };
			const { etag } = (await ask(origin, "GET", `/${path}`, { headers: asked })).headers;
			const known = { ...asked, "If-None-Match": etag as string };
			const again = await ask(origin, "GET", `/${path}`, { headers: known });
			const of = `${path}, ${encoding}: ${etag}`;
			assert.equal([again.status, again.headers["cache-control"]], [304, expected["Cache-Control"]], of);
		}
	}
	for (const path of ["/index/none.json", "/assets/none.js", "/en/none.html"]) {
		const { status, headers } = await ask(origin, "GET", path);
		assert.is(status, 404, path);
		assert.not.match(headers["cache-control"] ?? "", /immutable|max-age=60/, path);
	}
}

async function tryHost(origin: string, child: ChildProcess, name: string): Promise<void> {
	let said = "";
	child.stderr?.on("data", (data) => {
		said += data;
	});
	const answers = () =>
		ask(origin, "GET", "/v0.9/doc/en/23ax5t").then(
			() => true,
			() => false,
		);
	await eventually(async () => child.exitCode !== null || (await answers()));
	assert.is(child.exitCode, null, said);
	for (const path of ["/v0.9/doc/en/23ax5t", "/v1/doc/fr/23ax5t", "/v2/doc/en/a+b=c", "/ramp4/fr/23ax5t"]) {
		const answer = await ask(origin, "GET", path);
		assert.is(answer.status, 200, `${path} ${said}`);
		assertReadHeaders(answer);
		assert.match(answer.text, '"rcs.');
	}
	const { headers } = await ask(origin, "GET", "/v0.9/doc/en/23ax5t");
	const known = { "If-None-Match": headers.etag as string };
	assert.is((await ask(origin, "GET", "/v0.9/doc/en/23ax5t", { headers: known })).status, 304);
	const missing = await ask(origin, "GET", "/v0.9/doc/en/none");
	assert.equal([missing.status, missing.headers["access-control-allow-origin"]], [404, "*"]);
	assert.not.match(missing.headers["cache-control"] ?? "", "max-age=60", name);
	for (const path of ["/v0.9/doc/en/23ax5t", "/v0.9/doc/en/none"]) {
		const asked = { Origin: "https://page.example", "Access-Control-Request-Method": "GET" };
		const preflight = await ask(origin, "OPTIONS", path, { headers: asked });
		assert.is(preflight.status, 204, path);
		assert.is(preflight.headers["access-control-allow-origin"], "*");
		assert.is(preflight.headers["access-control-allow-headers"], "*, Authorization");
	}
}

test("CloudFront gets JSON with the headers of a read", () => {
	const text = staticHosts.cloudfront({ targets: targetNames, root: "dist", port: 80 });
	const [cors, policy, pages] = [...text.matchAll(/ '(\{.*\})'$/gm)].map(([, json]) =>
		JSON.parse(json as string),
	);
	assert.equal(cors.CORSRules[0].AllowedHeaders, ["*"]);
	assert.equal(policy.CorsConfig.AccessControlExposeHeaders, { Quantity: 2, Items: ["ETag", "Date"] });
	const security = pages.SecurityHeadersConfig;
	assert.is(
		security.ContentSecurityPolicy.ContentSecurityPolicy,
		documentHeaders(true)["Content-Security-Policy"],
	);
	assert.match(text, "--content-type 'application/json; charset=utf-8'");
	// No file of the catalogue is uploaded as JSON for being beside the fragments.
	const [fragments = "", assets = ""] = text.split("\n").filter((line) => line.startsWith("aws s3 sync"));
	assert.match(fragments, "--exclude '*' --include 'v0.9/doc/*'");
	assert.match(assets, "--exclude '*' --include 'assets/*' --exclude '*.gz'");
});

test("the hosting page names the command of each host, and a build writes _headers", async () => {
	const page = await readFile(join(root, "docs/hosting.md"), "utf8");
	const { _headers, ...hosts } = staticHosts;
	for (const name of Object.keys(hosts)) assert.match(page, `npx fragment-publisher headers ${name} --root`);
	assert.is(_headers({ targets: targetNames, root: "dist", port: 80 }), headersFile(targetNames, true));
});

test("another host is refused with those that there are", async () => {
	const { code, stdout, stderr } = await runScript("headers", ["iis"]);
	assert.equal([code, stdout], [2, ""]);
	assert.match(stderr, "Allowed choices are _headers, nginx, apache, caddy, cloudfront");
});

test.run();
