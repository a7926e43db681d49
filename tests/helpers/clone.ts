import { execFile } from "node:child_process";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { temporaryFolder } from "./world.ts";

const run = promisify(execFile);

export class Clone implements AsyncDisposable {
	private constructor(
		readonly path: string,
		readonly remove: () => Promise<void>,
	) {}

	static async of(repository: string): Promise<Clone> {
		const folder = await temporaryFolder();
		await run("git", ["clone", "-q", repository, folder.path]);
		return new Clone(folder.path, folder.remove);
	}

	[Symbol.asyncDispose](): Promise<void> {
		return this.remove();
	}

	async git(...args: string[]): Promise<string> {
		const identity = ["-c", "user.name=Reviewer", "-c", "user.email=reviewer@example.org"];
		const { stdout } = await run("git", [...identity, "-C", this.path, ...args]);
		return stdout.trim();
	}

	async commit(files: Record<string, string | null>, subject = "by hand"): Promise<void> {
		for (const [path, text] of Object.entries(files)) {
			const full = join(this.path, path);
			await mkdir(dirname(full), { recursive: true });
			if (text === null) await rm(full);
			else await writeFile(full, text);
		}
		await this.git("add", "-A");
		await this.git("commit", "-qm", subject);
	}

	async push(...args: string[]): Promise<boolean> {
		return this.git("push", "-q", ...args).then(
			() => true,
			() => false,
		);
	}
}
