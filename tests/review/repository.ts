import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** What a commit does to files: a text, also as one that may be executed, `null` to remove, or a symbolic link. */
export type Files = Record<string, string | null | { link: string } | { executable: string }>;

const environment = {
	PATH: process.env.PATH,
	GIT_CONFIG_GLOBAL: "/dev/null",
	GIT_CONFIG_NOSYSTEM: "1",
	GIT_AUTHOR_NAME: "tester",
	GIT_AUTHOR_EMAIL: "tester@sender.invalid",
	GIT_COMMITTER_NAME: "tester",
	GIT_COMMITTER_EMAIL: "tester@sender.invalid",
};

/** A git repository with a checkout, in a temporary folder, made with git's own commands. */
export class Repository {
	readonly path = mkdtempSync(join(tmpdir(), "publisher-review-"));

	constructor(files: Files) {
		this.git("init", "-q", "-b", "main");
		this.commit("base", files);
	}

	git(...args: string[]): string {
		return execFileSync("git", args, { cwd: this.path, env: environment, encoding: "utf8" });
	}

	/** Changes a file of the checkout. */
	write(name: string, content: Files[string]): void {
		const path = join(this.path, name);
		rmSync(path, { force: true, recursive: true });
		if (content === null) return;
		mkdirSync(dirname(path), { recursive: true });
		if (typeof content === "string") writeFileSync(path, content);
		else if ("link" in content) symlinkSync(content.link, path);
		else writeFileSync(path, content.executable, { mode: 0o755 });
	}

	/** Commits changes on the branch that is checked out. */
	commit(subject: string, files: Files): void {
		for (const [name, content] of Object.entries(files)) this.write(name, content);
		this.git("add", "-A");
		this.git("commit", "-q", "--allow-empty", "-m", subject);
	}

	/** Commits changes on a new branch `head` off main, and goes back to main. */
	propose(files: Files): void {
		this.git("checkout", "-q", "-B", "head", "main");
		this.commit("a change", files);
		this.git("checkout", "-q", "main");
	}

	/**
	 * Makes a branch `hiding` of which GitHub lists no file, while its merge writes a content that main has had and taken
	 * back: it has two merge bases, with one and with the other, and the tree of one.
	 */
	hide(path: string, content: string): void {
		const before = this.git("show", `main:${path}`);
		this.git("checkout", "-q", "-B", "hidden", "main");
		this.commit("another content", { [path]: content });
		this.git("checkout", "-q", "-b", "back");
		this.commit("its reversal", { [path]: before });
		this.git("checkout", "-q", "hidden");
		this.commit("beside it", { "layers/be/beside.json": wmsFile("beside", "http://127.0.0.1:9/wms") });
		this.git("checkout", "-q", "main");
		this.git("merge", "-q", "--no-ff", "--no-edit", "hidden", "back");
		this.git("checkout", "-q", "-b", "hiding", "hidden");
		this.git("merge", "-q", "--no-edit", "-s", "ours", "back");
		this.git("checkout", "-q", "main");
	}

	remove(): void {
		rmSync(this.path, { recursive: true, force: true });
	}
}

/** A wms registration as a file. */
export function wmsFile(layer: string, url = "https://maps.example/wms", more: object = {}): string {
	const entry = { service_url: url, layer, ...more };
	return `${JSON.stringify({ version: "1.0.0", payload_type: "wms", en: entry, fr: entry }, null, 2)}\n`;
}

/** A feature registration as a file. */
export function featureFile(url = "https://maps.example/MapServer/1", more: object = {}): string {
	const entry = { service_url: url, ...more };
	return `${JSON.stringify({ version: "1.0.0", payload_type: "feature", en: entry, fr: entry }, null, 2)}\n`;
}

export const ownersFile = JSON.stringify({
	operators: ["@maps/operators"],
	layers: { "*": ["@maps/reviewers"], "ene*": ["@maps/energy"] },
});
