import { type ChildProcess, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdir, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { isInstalled } from "../helpers/process.ts";

const suite = "bookworm";

/** Beside Debian's smallest system. The page's commands install git and nginx. */
const packages = [
	...["systemd", "systemd-sysv", "dbus", "ca-certificates", "procps", "curl"],
	// For publishers who push, and the pictures.
	...["sudo", "openssh-server", "openssh-client", "chromium-headless-shell"],
];

const nodePackages = [`node-linux-${process.arch}@24`, "npm@11"];

/** Program of this machine → its package. */
const tools: Record<string, string> = { debootstrap: "debootstrap", "systemd-nspawn": "systemd-container" };

/** Systems and packages that are kept between runs. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fragments-installed");

/** A proxy may have its own. */
const certificates = "/etc/ssl/certs/ca-certificates.crt";

/** Its processes are killed when this process ends, even when it is killed. */
export function spawnBound(words: readonly string[], options: Parameters<typeof spawn>[2] = {}) {
	const bound = ["--pdeathsig", "KILL", "unshare", "--pid", "--mount-proc", "--kill-child", ...words];
	return spawn("setpriv", bound, { stdio: ["ignore", "pipe", "pipe"], ...options });
}

export async function outputOf(child: ChildProcess, command: string) {
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (output += data));
	const code = await new Promise((resolve) => child.once("close", resolve));
	if (code !== 0) throw new Error(`${command}\nended with ${code}:\n${output.slice(-20_000)}`);
	return output;
}

export function runBound(words: readonly string[], cwd?: string) {
	return outputOf(spawnBound(words, { cwd }), words.join(" "));
}

/** Null where the suite can run. Installs missing programs on Debian and Ubuntu. */
export async function whyNot() {
	if (process.platform !== "linux") return "it needs Linux";
	if (process.getuid?.() !== 0) return "it needs root";
	const missingPackages = async () => {
		const missing: string[] = [];
		for (const [program, name] of Object.entries(tools))
			if (!(await isInstalled(program))) missing.push(name);
		return missing;
	};
	const missing = await missingPackages();
	if (missing.length > 0 && (await isInstalled("apt-get")))
		for (const words of [
			["update", "-q"],
			["install", "-q", "-y", "--no-install-recommends", ...missing],
		])
			await runBound(["apt-get", ...words]).catch(() => undefined);
	const rest = await missingPackages();
	return rest.length > 0 ? `${rest.join(", ")} cannot be installed here` : null;
}

/** npm and apt reach their registries as from this system. */
export async function networkVariables(): Promise<Record<string, string>> {
	const { stdout } = await promisify(execFile)("npm", ["config", "get", "registry"], { cwd: "/" });
	const names = ["http_proxy", "https_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];
	const proxies = names.map((name) => [name, process.env[name] ?? ""]).filter(([, value]) => value !== "");
	return {
		...Object.fromEntries(proxies),
		npm_config_registry: stdout.trim(),
		npm_config_cafile: certificates,
		NODE_EXTRA_CA_CERTS: certificates,
		DEBIAN_FRONTEND: "noninteractive",
	};
}

/** A Debian with Node 24, made once for a list of packages; all others are removed. */
export async function machineFolder() {
	const key = createHash("sha256").update(JSON.stringify([suite, packages, nodePackages, String(configure)]));
	const folder = join(cache, `debian-machine-${key.digest("hex").slice(0, 16)}`);
	await mkdir(join(cache, "npm"), { recursive: true });
	if (existsSync(folder)) return folder;
	for (const name of readdirSync(cache))
		if (name.startsWith("debian-machine-")) await rm(join(cache, name), { recursive: true, force: true });
	const system = `${folder}.new`;
	await runBound(["debootstrap", "--variant=minbase", `--include=${packages}`, suite, system]);
	await installNode(system);
	await configure(system);
	await rename(system, folder);
	return folder;
}

async function configure(system: string) {
	// A scene starts it.
	await runBound(["systemctl", "--quiet", `--root=${system}`, "disable", "ssh"]);
	await cp(certificates, join(system, certificates));
	await cp("/etc/resolv.conf", join(system, "etc/resolv.conf"), { dereference: true });
	await writeFile(join(system, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
	await writeFile(join(system, "etc/apt/apt.conf.d/90yes"), 'APT::Get::Assume-Yes "true";\n');
}

async function installNode(system: string) {
	const prefix = join(system, "opt/node");
	await mkdir(prefix, { recursive: true });
	await runBound(["npm", "install", "--no-audit", "--no-fund", "--prefix", prefix, ...nodePackages], "/");
	const modules = join(prefix, "node_modules");
	await cp(join(modules, `node-linux-${process.arch}`, "bin/node"), join(system, "usr/bin/node"));
	await mkdir(join(system, "usr/lib/node_modules"), { recursive: true });
	await cp(join(modules, "npm"), join(system, "usr/lib/node_modules/npm"), { recursive: true });
	for (const program of ["npm", "npx"])
		await symlink(`../lib/node_modules/npm/bin/${program}-cli.js`, join(system, "usr/bin", program));
	await rm(prefix, { recursive: true });
}
