import { type Files, type Git, gitIn, temporaryFolder, writeFiles } from "./world.ts";

export class Clone implements AsyncDisposable {
	private constructor(
		readonly path: string,
		readonly git: Git,
		readonly remove: () => Promise<void>,
	) {}

	static async of(repository: string): Promise<Clone> {
		const { path, remove } = await temporaryFolder();
		const git = gitIn(path);
		await git("clone", "-q", repository, ".");
		return new Clone(path, git, remove);
	}

	[Symbol.asyncDispose]() {
		return this.remove();
	}

	async commit(files: Files) {
		writeFiles(this.path, files);
		await this.git("add", "-A");
		await this.git("commit", "-qm", "by hand");
	}

	async push(...args: string[]) {
		return this.git("push", "-q", ...args).then(
			() => true,
			() => false,
		);
	}
}
