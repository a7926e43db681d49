// Static hosts with the files of deploy/static, where their programs are installed.
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { ask } from "../../conformance/client.ts";
import { end, freePort } from "../../conformance/engines.ts";
import { wholeConfiguration } from "../../conformance/nginx-engine.ts";
import { assertReadHeaders } from "../../conformance/reads.ts";
import { root } from "../../helpers/process.ts";
import { eventually } from "../../helpers/wait.ts";
import { sharedSuite, temporaryFolder } from "../../helpers/world.ts";
import { assertCatalogue, buildCatalogue } from "./catalogue.ts";

interface Program {
	command: string;
	file: string;
	configuration: (text: string, folder: string, port: number) => string;
	/** Before the path of the configuration. */
	words: (folder: string) => string[];
}

const programs: Program[] = [
	{
		command: "nginx",
		file: "nginx.conf",
		configuration: (text, folder) => wholeConfiguration(folder, text),
		words: (folder) => ["-e", "stderr", "-p", folder, "-c"],
	},
	{
		command: "apache2",
		file: "apache.conf",
		configuration(text, folder, port) {
			const names = ["mpm_event", "authz_core", "headers", "rewrite", "dir", "mime", "filter", "deflate"];
			const modules = names.map(
				(name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so\n`,
			);
			const main = `ServerName localhost\nListen 127.0.0.1:${port}\nPidFile ${folder}/pid\nErrorLog ${folder}/error\n`;
			// Debian compresses pages; all types are compressed here.
			return `${modules.join("")}${main}TypesConfig /dev/null\nSetOutputFilter DEFLATE\n${text}`;
		},
		words: () => ["-X", "-f"],
	},
	{
		command: "caddy",
		file: "Caddyfile",
		configuration: (text) => `{\n\tadmin off\n}\n${text}`,
		words: () => ["run", "--adapter", "caddyfile", "--config"],
	},
];

function adapt(text: string, dist: string, port: number) {
	return text.replaceAll("/var/www/fragments", dist).replace(/(?<=^\tlisten |_PORT[ :])80\b/m, String(port));
}

function isInstalled(command: string) {
	return spawnSync("which", [command]).status === 0;
}

const test = sharedSuite("headers of static hosts", async (use) => {
	const { path: folder } = use(await temporaryFolder());
	// Apache drops the rights of root.
	await chmod(folder, 0o755);
	return { dist: await buildCatalogue(folder), folder };
});

for (const { command, file, configuration, words } of programs) {
	const testHost = isInstalled(command) ? test : test.skip;
	testHost(`${command} serves a build as the service does`, async ({ dist, folder }) => {
		const port = await freePort();
		const text = adapt(readFileSync(join(root, "deploy/static", file), "utf8"), dist, port);
		const path = join(folder, "server.conf");
		await writeFile(path, configuration(text, folder, port));
		const env = { ...process.env, HOME: folder };
		const child = spawn(command, [...words(folder), path], { stdio: ["ignore", "ignore", "inherit"], env });
		const origin = `http://127.0.0.1:${port}`;
		try {
			await eventually(() => {
				if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}`);
				return ask(origin, "GET", "/v0.9/doc/en/23ax5t")
					.then(Boolean)
					.catch(() => false);
			});
			await assertFragments(origin);
			await assertCatalogue(origin, dist);
			for (const path of ["fr/layer/a+b=c", "en/embed/a+b=c"]) {
				const answer = await ask(origin, "GET", `/${path}`);
				assert.is(answer.text, readFileSync(join(dist, `${path}.html`), "utf8"));
			}
			await assertMissing(origin);
		} finally {
			await end(child);
		}
	});
}

async function assertFragments(origin: string) {
	for (const path of ["/v0.9/doc/en/23ax5t", "/v1/doc/fr/23ax5t", "/v2/doc/en/a+b=c", "/ramp4/fr/23ax5t"]) {
		const answer = await ask(origin, "GET", path);
		assert.is(answer.status, 200, path);
		assertReadHeaders(answer);
		assert.match(answer.text, '"rcs.');
		const headers = { "If-None-Match": answer.headers.etag as string };
		assert.is((await ask(origin, "GET", path, { headers })).status, 304);
	}
	const missing = await ask(origin, "GET", "/v0.9/doc/en/none");
	assert.equal([missing.status, missing.headers["access-control-allow-origin"]], [404, "*"]);
	assert.not.match(missing.headers["cache-control"] ?? "", "max-age=60");
	const headers = { Origin: "https://page.example", "Access-Control-Request-Method": "GET" };
	assert.is((await ask(origin, "OPTIONS", "/v0.9/doc/en/none", { headers })).status, 204);
}

async function assertMissing(origin: string) {
	for (const path of ["/index/none.json", "/assets/none.js", "/en/none.html"]) {
		const { status, headers } = await ask(origin, "GET", path);
		assert.is(status, 404, path);
		assert.not.match(headers["cache-control"] ?? "", /immutable|max-age=60/, path);
	}
}

test.run();
