import type { ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../helpers/process.ts";
import { eventually } from "../helpers/wait.ts";
import { certificates, imageFolder, networkVariables, newFolder, runBound, spawnBound } from "./base.ts";
import { copyCheckout, initBelow, runIn } from "./machine.ts";

/** What an image says of itself (its Docker form). */
interface Configuration {
	User: string;
	WorkingDir: string;
	Env: string[];
	Cmd: string[];
	Volumes: Record<string, object>;
	Healthcheck: { Test: string[] };
	ExposedPorts: Record<string, object>;
}

/** What a checkout may have beside the sources, and no image may have. */
const secretFiles = {
	".env": "GITHUB_TOKEN=token-of-a-checkout\n",
	".data/senders.json": '{"a":"secret-of-a-checkout"}\n',
	"fragments.env": "DATA_DIR=/secret-of-a-checkout\n",
};

/** Words of those files. */
export const secretWords = ["token-of-a-checkout", "secret-of-a-checkout"];

/**
 * An image of deploy/Dockerfile, built by buildah, and a container of it with one volume. The container has a network, a
 * process table and mounts of its own (systemd-nspawn), and runs the image's command as its first process and its user, as
 * with Docker.
 */
export class Container {
	#process: ChildProcess | null = null;
	#log = "";

	private constructor(
		readonly folder: string,
		/** The files of the image. */
		readonly files: string,
		readonly configuration: Configuration,
	) {}

	get volume(): string {
		return join(this.folder, "volume");
	}

	static async build(): Promise<Container> {
		const folder = await newFolder("image");
		const context = join(folder, "context");
		await copyCheckout(join(folder, "checkout.git"));
		await runBound(["git", "clone", "-q", join(folder, "checkout.git"), context]);
		for (const [path, text] of Object.entries(secretFiles)) {
			await mkdir(join(context, path, ".."), { recursive: true });
			await writeFile(join(context, path), text);
		}
		await makeBase(folder);
		const { npm_config_registry } = await networkVariables();
		const npmrc = join(folder, "npmrc");
		await writeFile(npmrc, `registry=${npm_config_registry}\ncafile=${certificates}\n`);
		const mounts = [`${npmrc}:/usr/etc/npmrc:ro`, `${certificates}:${certificates}:ro`];
		const volumes = mounts.flatMap((mount) => ["--volume", mount]);
		const words = ["build", "--isolation", "chroot", "--pull=never", "--format", "docker", ...volumes];
		await buildah(folder, ...words, "-f", "deploy/Dockerfile", "-t", "fragments", context);
		const inspected = await buildah(folder, "inspect", "--type", "image", "fragments");
		const { config } = JSON.parse(inspected).Docker as { config: Configuration };
		const working = (await buildah(folder, "from", "--pull=never", "fragments")).trim();
		const files = (await buildah(folder, "mount", working)).trim();
		return new Container(folder, files, config);
	}

	/** Starts the image's command. What it needs on the volume of Docker, the files that the image has there, is copied. */
	async start(): Promise<void> {
		const { User, WorkingDir, Env, Cmd, Volumes } = this.configuration;
		const [place = ""] = Object.keys(Volumes);
		if (!existsSync(this.volume)) await cp(join(this.files, place), this.volume, { recursive: true });
		await runBound(["chown", "--reference", join(this.files, place), this.volume]);
		const own = ["-D", this.files, "--register=no", "--keep-unit", "--private-network", `--user=${User}`];
		const options = [`--bind=${this.volume}:${place}`, `--chdir=${WorkingDir}`];
		const variables = Env.map((variable) => `--setenv=${variable}`);
		this.#log = "";
		this.#process = spawnBound(["systemd-nspawn", "-q", ...own, ...options, ...variables, ...Cmd]);
		for (const stream of [this.#process.stdout, this.#process.stderr])
			stream?.on("data", (data) => (this.#log += data));
		await eventually(() => {
			if (this.#process?.exitCode !== null) throw new Error(`the container ended: ${this.#log}`);
			return this.#log.includes("Senders: ");
		});
	}

	/** Runs a command in the container, as `docker exec` does. @throws {Error} with its output, if it fails */
	run(...words: string[]): Promise<string> {
		const { User, WorkingDir, Env } = this.configuration;
		const entered = ["-m", "-u", "-i", "-p", "-n", "setpriv"];
		const user = ["--reuid", User, "--regid", User, "--init-groups"];
		const inFolder = ["env", "-i", `--chdir=${WorkingDir}`, ...Env, ...words];
		return runIn(this.#first(), [...entered, ...user, ...inFolder]);
	}

	/** Ends its first process as `docker stop` does. @returns its exit code; null where it had to be killed */
	async stop(timeoutMs: number): Promise<number | null> {
		const running = this.#process as ChildProcess;
		const ended = new Promise<number | null>((resolve) => running.once("close", resolve));
		process.kill(this.#first(), "SIGTERM");
		const killing = setTimeout(() => running.kill("SIGKILL"), timeoutMs);
		const code = await ended;
		clearTimeout(killing);
		this.#process = null;
		return code;
	}

	/** The id of its first process. */
	#first(): number {
		const { pid } = this.#process as ChildProcess;
		return initBelow(pid as number, /^(?:node|MainThread)$/m);
	}

	async journal(): Promise<string> {
		return this.#log;
	}

	async end(): Promise<void> {
		if (this.#process) await this.stop(0);
		await buildah(this.folder, "umount", "--all");
		await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
	}
}

/** Runs buildah with images and containers in a folder of the test's own. */
function buildah(folder: string, ...words: string[]): Promise<string> {
	const places = ["--root", join(folder, "storage"), "--runroot", join(folder, "run")];
	return runBound(["buildah", ...places, "--storage-driver", "vfs", ...words], root);
}

/** Makes the image on which deploy/Dockerfile builds, from the same Debian and Node as the machine. */
async function makeBase(folder: string): Promise<void> {
	const container = (await buildah(folder, "from", "scratch")).trim();
	// Not `buildah copy`, which gives all files to root.
	const mounted = (await buildah(folder, "mount", container)).trim();
	await runBound(["cp", "-a", `${await imageFolder()}/.`, mounted]);
	await buildah(folder, "commit", "-q", container, "docker.io/library/node:24-slim");
	await buildah(folder, "rm", container);
}
