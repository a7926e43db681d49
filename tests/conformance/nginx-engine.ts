import { execFileSync, spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { gitIn, temporaryFolder } from "../helpers/world.ts";
import type { Candidate, Engine } from "./engine.ts";
import { end, freePort, startNode } from "./engines.ts";

export const nginx: Candidate = {
	name: "nginx",
	missing: hasNginx() ? null : "nginx is not installed (apt-get install nginx)",
	start: (layers) => startNginx(layers),
};

function hasNginx(): boolean {
	try {
		execFileSync("nginx", ["-v"], { stdio: "ignore" });
		return true;
	} catch {
		return false;
	}
}

async function renderNginx(folder: string, port: number, service: string, dist: string): Promise<string> {
	const site = (await readFile(join(root, "deploy/nginx.conf"), "utf8"))
		.replace("server 127.0.0.1:8080;", `server ${service};`)
		.replace("listen 80 default_server;", `listen 127.0.0.1:${port};`)
		.replace("root /var/lib/fragments/dist;", `root ${dist};`)
		.replace("# brotli_static on;", "");
	const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
		(name) => `${name}_temp_path ${join(folder, name)};`,
	);
	const main = [
		"daemon off;",
		"worker_processes 1;",
		...(process.getuid?.() === 0 ? ["user root;"] : []),
		`pid ${join(folder, "nginx.pid")};`,
		"error_log stderr crit;",
		`events {}\nhttp {\naccess_log off;\n${paths.join("\n")}\n${site}\n}`,
	];
	const path = join(folder, "nginx.conf");
	await writeFile(path, main.join("\n"));
	return path;
}

export async function spawnNginx(
	service: string,
	dist: string,
	edit: (configuration: string) => string = (text) => text,
) {
	const folder = await temporaryFolder();
	const port = await freePort();
	const configuration = await renderNginx(folder.path, port, service, dist);
	await writeFile(configuration, edit(await readFile(configuration, "utf8")));
	const child = spawn("nginx", ["-c", configuration, "-p", folder.path], {
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

async function startNginx(layers: ReadonlyMap<string, string>): Promise<Engine> {
	const folder = await temporaryFolder();
	const behind = await startNode(layers, { DATA_DIR: folder.path });
	const front = await spawnNginx(new URL(behind.origin).host, join(folder.path, "dist"));
	const repository = join(folder.path, "repository.git");
	return {
		...behind,
		origin: front.origin,
		state: async () => gitIn(repository)("rev-parse", "main"),
		async stop() {
			await front.stop();
			await behind.stop();
			await folder.remove();
		},
	};
}
