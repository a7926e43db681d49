import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { type Files, temporaryFolder, writeFiles } from "./world.ts";

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

	async commit(files: Files, subject = "by hand"): Promise<void> {
		writeFiles(this.path, files);
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
