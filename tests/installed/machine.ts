import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { descendantsOf, readIfThere, root } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { cache, machineFolder, networkVariables, outputOf, runBound, spawnBound } from "./base.ts";

interface RunOptions {
	/** `outside`: this machine's, for commands that install something. */
	network?: "outside" | "own";
	env?: Record<string, string>;
	input?: string;
}

/** Namespaces (nsenter(1)). */
const spaces = ["-m", "-u", "-i", "-p", "-C"];

/** A Debian, booted by systemd, with its own network. It ends with this process. */
export class Machine {
	private constructor(
		readonly folder: string,
		readonly nspawn: ChildProcess,
		readonly init: number,
		readonly variables: Record<string, string>,
	) {}

	/** `/checkout.git` has the project as it is in the working tree. */
	static async boot(): Promise<Machine> {
		const base = await machineFolder();
		const folder = await mkdtemp(join(cache, "machine-"));
		await runBound(["cp", "-a", "--reflink=auto", `${base}/.`, folder]);
		await copyCheckout(join(folder, "checkout.git"));
		const binds = [`--bind=${join(cache, "npm")}:/var/cache/npm`];
		const words = ["systemd-nspawn", "-q", "-D", folder, "--register=no", "--keep-unit", "--private-network"];
		const nspawn = spawnBound([...words, ...binds, "-b"]);
		let console = "";
		for (const stream of [nspawn.stdout, nspawn.stderr]) stream?.on("data", (data) => (console += data));
		let init = 0;
		await eventually(() => {
			if (nspawn.exitCode !== null) throw new Error(`the machine did not start: ${console}`);
			const isInit = (pid: number) => readIfThere(`/proc/${pid}/comm`) === "systemd\n";
			init =
				descendantsOf(nspawn.pid as number)
					.sort((a, b) => a - b)
					.find(isInit) ?? 0;
			return init > 0;
		});
		const machine = new Machine(folder, nspawn, init, await networkVariables());
		const state = () => machine.run("systemctl is-system-running || true").catch(() => "");
		await eventually(async () => /^(?:running|degraded)$/m.test(await state()));
		return machine;
	}

	/** In bash. @throws {Error} with the output, if a command fails */
	async run(commands: string, { network = "own", env = {}, input = "" }: RunOptions = {}) {
		const outside = network === "outside" ? { ...this.variables, npm_config_cache: "/var/cache/npm" } : {};
		const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
		const all = { PATH, HOME: "/root", LC_ALL: "C.UTF-8", ...outside, ...env };
		const variables = Object.entries(all).map(([name, value]) => `${name}=${value}`);
		const entered = [...spaces, ...(network === "own" ? ["-n"] : []), "env", "-i", ...variables];
		const shell = ["bash", "--norc", "-euo", "pipefail", "-c", commands];
		const child = spawn("nsenter", ["-t", String(this.init), ...entered, ...shell], { cwd: "/" });
		child.stdin.on("error", () => undefined).end(input);
		return outputOf(child, commands);
	}

	async journal() {
		return this.run("journalctl --no-pager -o short-monotonic -n 150").catch(String);
	}

	async end() {
		const ended = new Promise((resolve) => this.nspawn.once("close", resolve));
		if (this.nspawn.exitCode === null && this.nspawn.signalCode === null) {
			this.nspawn.kill("SIGKILL");
			await ended;
		}
		await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

async function copyCheckout(folder: string) {
	const names = { GIT_AUTHOR_NAME: "test", GIT_COMMITTER_NAME: "test" };
	const mails = { GIT_AUTHOR_EMAIL: "test@example.invalid", GIT_COMMITTER_EMAIL: "test@example.invalid" };
	const env = { ...process.env, ...names, ...mails };
	const git = (...words: string[]) => execFileSync("git", words, { cwd: root, env, encoding: "utf8" }).trim();
	git("clone", "--quiet", "--bare", root, folder);
	const changed = git("stash", "create") || "HEAD";
	git("push", "--quiet", "--force", folder, `${changed}:refs/heads/main`);
	git("-C", folder, "symbolic-ref", "HEAD", "refs/heads/main");
}
