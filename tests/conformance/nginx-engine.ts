import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isInstalled, root, ServerProcess } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { gitIn, temporaryFolder, writeFiles } from "../helpers/world.ts";
import { write } from "./client.ts";
import { type Candidate, senders } from "./engine.ts";
import { end, freePort } from "./engines.ts";

export const nginx: Candidate = {
	name: "nginx",
	missing: (await isInstalled("nginx")) ? null : "nginx is not installed (apt-get install nginx)",
	start: startNginx,
};

async function configurationOf(folder: string, port: number, service: string, dist: string) {
	const site = (await readFile(join(root, "deploy/nginx.conf"), "utf8"))
		.replace("server 127.0.0.1:8080;", `server ${service};`)
		.replace("listen 80 default_server;", `listen 127.0.0.1:${port};`)
		.replace("root /var/lib/fragments/dist;", `root ${dist};`)
		.replace("# brotli_static on;", "");
	return wholeConfiguration(folder, site);
}

export function wholeConfiguration(folder: string, site: string) {
	const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
		(name) => `${name}_temp_path ${join(folder, name)};`,
	);
	return [
		"daemon off;",
		"worker_processes 1;",
		...(process.getuid?.() === 0 ? ["user root;"] : []),
		`pid ${join(folder, "nginx.pid")};`,
		"error_log stderr crit;",
		`events {}\nhttp {\naccess_log off;\n${paths.join("\n")}\n${site}\n}`,
	].join("\n");
}

export async function spawnNginx(
	service: string,
	dist: string,
	edit = (configuration: string) => configuration,
) {
	const folder = await temporaryFolder();
	const port = await freePort();
	writeFiles(folder.path, { "nginx.conf": edit(await configurationOf(folder.path, port, service, dist)) });
	const child = spawn("nginx", ["-c", join(folder.path, "nginx.conf"), "-p", folder.path], {
		stdio: ["ignore", "ignore", "inherit"],
	});
	const origin = `http://127.0.0.1:${port}`;
	await eventually(async () => {
		if (child.exitCode !== null) throw new Error(`nginx ended with ${child.exitCode}`);
		return fetch(`${origin}/v0.9/doc/xx/x`).then(
			() => true,
			() => false,
		);
	});
	return {
		origin,
		async stop() {
			await end(child);
			await folder.remove();
		},
	};
}

async function startNginx(layers: ReadonlyMap<string, string>) {
	const { path, remove } = await temporaryFolder();
	const server = await ServerProcess.start({ DATA_DIR: path, SENDERS: JSON.stringify(senders) });
	for (const [smallkey, body] of layers) {
		const { status, text } = await write(server.url, "PUT", `/register/${smallkey}`, { body });
		if (status !== 201) throw new Error(`PUT ${smallkey}: ${status} ${text}`);
	}
	const front = await spawnNginx(new URL(server.url).host, join(path, "dist"));
	return {
		origin: front.origin,
		docsMaxKeys: 1000,
		published: true,
		state: () => gitIn(join(path, "repository.git"))("rev-parse", "main"),
		async stop() {
			await front.stop();
			await server.stop();
			await remove();
		},
	};
}
