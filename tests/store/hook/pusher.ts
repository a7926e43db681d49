import { spawn } from "node:child_process";
import { buffer } from "node:stream/consumers";
import { Clone } from "../../helpers/clone.ts";
import { cleanEnvironment } from "../../helpers/process.ts";

export interface Pushed {
	isAccepted: boolean;
	screen: string;
}

export class Pusher implements AsyncDisposable {
	private constructor(readonly clone: Clone) {}

	static async of(repository: string): Promise<Pusher> {
		return new Pusher(await Clone.of(repository));
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.clone.remove();
	}

	async reset(): Promise<void> {
		await this.clone.git("checkout", "-q", "-f", "-B", "main", "origin/main");
	}

	async pull(): Promise<void> {
		await this.clone.git("fetch", "-q", "--prune", "origin");
		await this.reset();
	}

	async push(...args: string[]): Promise<Pushed> {
		const words = args.length > 0 ? args : ["HEAD:refs/heads/main"];
		const { code, errors } = await this.#git(["push", "origin", ...words]);
		return { isAccepted: code === 0, screen: errors };
	}

	/** Commits a file, link, submodule or folder beside those of HEAD, whatever its path is. */
	async commitEntry(path: string | Buffer, mode: string, id: string): Promise<void> {
		const quoted = Buffer.from(path)
			.toString("latin1")
			.replace(/[^ !#-[\]-~]/g, (character) => `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`);
		const head = await this.clone.git("rev-parse", "HEAD");
		const lines = [
			...["commit refs/heads/crafted", "committer Ada <ada@example.org> 1772625600 +0000", "data 7\nby hand"],
			...[`from ${head}`, `M ${mode} ${id} "${quoted}"`, "done\n"],
		];
		await this.#text(["fast-import", "--quiet", "--force", "--done"], lines.join("\n"));
		await this.clone.git("update-ref", "HEAD", "refs/heads/crafted");
	}

	async commitTree(
		tree: string,
		parents: string[] = ["HEAD"],
		subject = "by hand",
		env: Record<string, string> = {},
	): Promise<string> {
		const on = parents.flatMap((parent) => ["-p", parent]);
		const commit = await this.#text(["commit-tree", tree, ...on, "-m", subject], "", env);
		await this.clone.git("update-ref", "HEAD", commit);
		return commit;
	}

	blob(content: string | Uint8Array): Promise<string> {
		return this.#text(["hash-object", "-w", "--stdin"], content);
	}

	object(type: string, content: string | Uint8Array): Promise<string> {
		return this.#text(["hash-object", "-w", "--literally", "-t", type, "--stdin"], content);
	}

	tree(entries: readonly (readonly [mode: string, id: string, name: string])[]): Promise<string> {
		const lines = entries.map(
			([mode, id, name]) => `${mode} ${mode === "040000" ? "tree" : "blob"} ${id}\t${name}\0`,
		);
		return this.#text(["mktree", "-z"], lines.join(""));
	}

	async #text(
		args: string[],
		input: string | Uint8Array = "",
		env: Record<string, string> = {},
	): Promise<string> {
		const { code, output, errors } = await this.#git(args, input, env);
		if (code !== 0) throw new Error(`git ${args[0]}: ${errors}`);
		return output.toString("utf8").trim();
	}

	async #git(args: string[], input: string | Uint8Array = "", env: Record<string, string> = {}) {
		const identity = {
			GIT_AUTHOR_NAME: "Ada",
			GIT_AUTHOR_EMAIL: "ada@example.org",
			GIT_COMMITTER_NAME: "Ada",
			GIT_COMMITTER_EMAIL: "ada@example.org",
		};
		const child = spawn("git", ["-C", this.clone.path, ...args], {
			env: cleanEnvironment({ ...identity, ...env }),
		});
		child.stdin.on("error", () => undefined);
		child.stdin.end(input);
		const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
		const [output, errors] = await Promise.all([buffer(child.stdout), buffer(child.stderr)]);
		return { code: await ended, output, errors: errors.toString("utf8") };
	}
}
