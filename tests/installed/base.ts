import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { cp, mkdir, mkdtemp, rename, rm, symlink, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const suite = "bookworm";

/** Packages of the machine beside Debian's smallest system. git and nginx are installed by the commands of the page. */
const packages = [
	...["systemd", "systemd-sysv", "dbus", "ca-certificates", "procps", "curl"],
	// For publishers who push, and the pictures.
	...["sudo", "openssh-server", "openssh-client", "chromium-headless-shell"],
];

/** Node and npm, as packages of npm. */
const nodePackages = [`node-linux-${process.arch}@24`, "npm@11"];

/** The programs of this machine that the suite needs, with their packages. */
const tools = { debootstrap: "debootstrap", "systemd-nspawn": "systemd-container" };

/** Where systems and packages are kept between runs: outside the repository. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "fragments-installed");

/** A new folder beside them, on the same disk. */
export async function newFolder(purpose: string): Promise<string> {
	await mkdir(cache, { recursive: true });
	return mkdtemp(join(cache, `${purpose}-`));
}

/** Certificates of this machine: a proxy may have its own. */
export const certificates = "/etc/ssl/certs/ca-certificates.crt";

/**
 * Starts a program, whose processes are all killed when this process ends, even when it is killed: they have a table of
 * processes of their own.
 */
export function spawnBound(words: readonly string[], options: Parameters<typeof spawn>[2] = {}) {
	const bound = ["--pdeathsig", "KILL", "unshare", "--pid", "--mount-proc", "--kill-child", ...words];
	return spawn("setpriv", bound, { stdio: ["ignore", "pipe", "pipe"], ...options });
}

/** Runs a program to its end. @returns its output @throws {Error} with its output if it fails */
export async function runBound(words: readonly string[], cwd?: string): Promise<string> {
	const child = spawnBound(words, { cwd });
	let output = "";
	for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (output += data));
	const code = await new Promise((resolve) => child.once("close", resolve));
	if (code !== 0) throw new Error(`${words.join(" ")}: ended with ${code}\n${output.slice(-10_000)}`);
	return output;
}

function isThere(program: string): Promise<boolean> {
	return promisify(execFile)("which", [program]).then(
		() => true,
		() => false,
	);
}

/** Why the suite cannot run here; null if it can. Installs missing programs on Debian and Ubuntu. */
export async function whyNot(): Promise<string | null> {
	if (process.platform !== "linux") return "it needs Linux";
	if (process.getuid?.() !== 0) return "it needs root";
	const absent = async () => {
		const all = Object.keys(tools) as (keyof typeof tools)[];
		const found = await Promise.all(all.map(isThere));
		return all.filter((_, index) => !found[index]).map((program) => tools[program]);
	};
	const missing = await absent();
	if (missing.length > 0 && (await isThere("apt-get"))) {
		await runBound(["apt-get", "update", "-q"]).catch(() => undefined);
		const words = ["apt-get", "install", "-q", "-y", "--no-install-recommends", ...missing];
		await runBound(words).catch(() => undefined);
	}
	const still = await absent();
	return still.length > 0 ? `${still.join(", ")} cannot be installed here` : null;
}

/** The variables with which npm and apt reach their registries from a system of the suite as they do from this one. */
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

/** The folder of a Debian that is booted. */
export function machineFolder(): Promise<string> {
	return madeOnce("machine", packages, async (system) => {
		// A scene starts it.
		await runBound(["systemctl", "--quiet", `--root=${system}`, "disable", "ssh"]);
		await cp(certificates, join(system, certificates));
		await cp("/etc/resolv.conf", join(system, "etc/resolv.conf"), { dereference: true });
		await writeFile(join(system, "etc/hosts"), "127.0.0.1 localhost\n::1 localhost\n");
		await writeFile(join(system, "etc/apt/apt.conf.d/90yes"), 'APT::Get::Assume-Yes "true";\n');
	});
}

/**
 * Returns the folder of a Debian with Node 24, which is made once for a list of packages. Folders for other lists, and
 * those of interrupted runs, are removed.
 */
async function madeOnce(
	purpose: string,
	included: readonly string[],
	finish: (system: string) => Promise<void>,
): Promise<string> {
	const key = createHash("sha256").update(JSON.stringify([suite, included, nodePackages, String(finish)]));
	const folder = join(cache, `debian-${purpose}-${key.digest("hex").slice(0, 16)}`);
	await mkdir(join(cache, "npm"), { recursive: true });
	if (existsSync(folder)) return folder;
	for (const old of readdirSync(cache))
		if (old.startsWith(`debian-${purpose}-`)) await rm(join(cache, old), { recursive: true, force: true });
	const made = `${folder}.new`;
	const include = included.length > 0 ? [`--include=${included}`] : [];
	await runBound(["debootstrap", "--variant=minbase", ...include, suite, made]);
	await installNode(made);
	await finish(made);
	await rename(made, folder);
	return folder;
}

async function installNode(system: string): Promise<void> {
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
