import { Clone } from "../../helpers/clone.ts";
import { type Ended, exits, runProgram } from "../../helpers/process.ts";

export interface PushResult {
	isAccepted: boolean;
	/** Printed by git and the hook. */
	screen: string;
}

/** Also makes commits that git refuses. */
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

	async push(...args: string[]): Promise<PushResult> {
		const refs = args.length > 0 ? args : ["HEAD:refs/heads/main"];
		const { code, stderr } = await this.#git(["push", "origin", ...refs]);
		return { isAccepted: code === 0, screen: stderr };
	}

	/** Adds a file, link, submodule or folder of any path to HEAD. */
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

	async commitTree(tree: string, parents = ["HEAD"], env: Record<string, string> = {}): Promise<string> {
		const args = parents.flatMap((parent) => ["-p", parent]);
		const commit = await this.#text(["commit-tree", tree, ...args, "-m", "by hand"], "", env);
		await this.clone.git("update-ref", "HEAD", commit);
		return commit;
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

	async #text(args: string[], input: string | Uint8Array, env?: Record<string, string>): Promise<string> {
		return (await exits(this.#git(args, input, env), 0)).stdout.trim();
	}

	#git(args: string[], input?: string | Uint8Array, env?: Record<string, string>): Promise<Ended> {
		const ada = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"];
		return runProgram("git", [...ada, ...args], env, this.clone.path, input);
	}
}
