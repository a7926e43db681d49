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

	async commitEntry(path: string | Buffer, mode: string, id: string): Promise<void> {
		const names: Buffer[] = [];
		let rest = Buffer.from(path);
		for (let end = rest.indexOf("/"); end >= 0; end = rest.indexOf("/")) {
			names.push(rest.subarray(0, end));
			rest = rest.subarray(end + 1);
		}
		const tree = await this.#place("HEAD^{tree}", [...names, rest], mode, id);
		await this.commitTree(tree);
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
		return this.#makeTree(entries.map(([mode, id, name]) => entryOf(mode, id, Buffer.from(name))));
	}

	async #place(tree: string, names: readonly Buffer[], mode: string, id: string): Promise<string> {
		const [name = Buffer.alloc(0), ...below] = names;
		const { output } = await this.#git(["ls-tree", "-z", tree]);
		const records = splitRecords(output).filter((record) => !nameOf(record).equals(name));
		if (below.length === 0) return this.#makeTree([...records, entryOf(mode, id, name)]);
		const known = splitRecords(output).find((record) => nameOf(record).equals(name));
		const subtree = known?.toString("latin1").split(/[ \t]/)[2] ?? (await this.#makeTree([]));
		const changed = await this.#place(subtree, below, mode, id);
		return this.#makeTree([...records, entryOf("040000", changed, name)]);
	}

	#makeTree(records: readonly Buffer[]): Promise<string> {
		const input = Buffer.concat(records.flatMap((record) => [record, Buffer.of(0)]));
		return this.#text(["mktree", "-z", "--missing"], input);
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

function entryOf(mode: string, id: string, name: Buffer): Buffer {
	const type = mode === "040000" ? "tree" : mode === "160000" ? "commit" : "blob";
	return Buffer.concat([Buffer.from(`${mode} ${type} ${id}\t`), name]);
}

function splitRecords(output: Buffer): Buffer[] {
	const records: Buffer[] = [];
	for (let start = 0, end = output.indexOf(0); end >= 0; start = end + 1, end = output.indexOf(0, start)) {
		records.push(output.subarray(start, end));
	}
	return records;
}

function nameOf(record: Buffer): Buffer {
	return record.subarray(record.indexOf(0x09) + 1);
}
