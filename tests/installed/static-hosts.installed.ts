import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as assert from "uvu/assert";
import { root } from "../helpers/process.ts";
import type { Machine } from "./machine.ts";
import { install, scenes } from "./scenes.ts";

/** The words between backquotes in the row of a host in docs/hosting.md: the command that prints, the file for it, and more. */
function rowOf(host: string): string[] {
	const row = new RegExp(`^\\| ${host} \\| (.*) \\|$`, "m");
	const [, text = ""] = row.exec(readFileSync(join(root, "docs/hosting.md"), "utf8")) ?? [];
	return [...text.matchAll(/`([^`]+)`/g)].map(([, words]) => words as string);
}

/** Starts a server with what the command prints, and compares what it serves with the build. */
async function tryHost(machine: Machine, service: string, print: string, place: string, prepare: string) {
	await machine.run(
		`cd /opt/fragments; systemctl stop nginx apache2 caddy; ${print} > ${place}; ${prepare}; systemctl restart ${service}`,
	);
	const port = / --port (\d+)/.exec(print)?.[1] ?? "80";
	const origin = `http://127.0.0.1:${port}`;
	const verified = await machine.run(
		`cd /opt/fragments && npx fragment-publisher verify ${origin} --dist /var/www/fragments --all --wait 20`,
	);
	for (const path of ["/en/", "/v0.9/doc/en/airports"]) await assertConditional(machine, `${origin}${path}`);
	return verified.trim().split("\n").at(-1);
}

/** Asserts that a reader who accepts compression gets 304 for the tag that it was given. */
async function assertConditional(machine: Machine, url: string): Promise<void> {
	const get = `curl -s -o /dev/null -H 'Accept-Encoding: gzip'`;
	const head = await machine.run(`${get} -D - ${url}`);
	const [, tag = ""] = /^etag: (.+?)\r?$/im.exec(head) ?? [];
	assert.ok(tag, head);
	const again = await machine.run(`${get} -w '%{http_code}' -H 'If-None-Match: ${tag}' ${url}`);
	assert.is(again, "304", `${url} ${head}`);
}

await scenes("Static hosts", {
	"a build is made": async (machine) => {
		await install(machine);
		await machine.run("cd /opt/fragments && npx fragment-publisher build --out /var/www/fragments");
		const versions = await machine.run(
			"nginx -v 2>&1 | cut -d' ' -f3; apache2 -v | head -1 | cut -d' ' -f3; echo Caddy $(caddy version)",
		);
		return versions.trim().replaceAll("\n", ", ");
	},
	"nginx serves it as built": (machine) => {
		const [print = "", place = "", remove = ""] = rowOf("nginx");
		return tryHost(machine, "nginx", print, place, remove);
	},
	"Apache serves it as built, and 304 for a page that it compressed": async (machine) => {
		const [print = "", place = "", listen, ports, modules, site] = rowOf("Apache");
		const prepare = `echo ${listen} >> ${ports}; ${modules}; ${site}`;
		const verified = await tryHost(machine, "apache2", print, place, prepare);
		const page = "curl -s -o /dev/null -D - -H 'Accept-Encoding: gzip' http://127.0.0.1:8092/en/";
		assert.match(await machine.run(page), /^Content-Encoding: gzip/im);
		return verified;
	},
	"Caddy serves it as built": (machine) => {
		const [print = "", place = ""] = rowOf("Caddy");
		return tryHost(machine, "caddy", print, place, "true");
	},
});
