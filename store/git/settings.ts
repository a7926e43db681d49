import { runGit } from "../../git/run.ts";

/**
 * Settings of the repository, name → values: acknowledged commits stay, nothing tidies up under the writer, and what
 * may be pushed is a closed list (git-config(1)).
 */
const settings: ReadonlyMap<string, readonly string[]> = new Map([
	["core.fsync", ["committed"]],
	["core.fsyncmethod", ["fsync"]],
	["gc.auto", ["0"]],
	["maintenance.auto", ["false"]],
	["receive.autogc", ["false"]],
	["receive.fsckobjects", ["true"]],
	// A pack that is larger is refused while it comes in; 100,000 layers take some 40 MB.
	["receive.maxinputsize", ["268435456"]],
	// What is larger is neither unpacked in memory nor stored as a delta.
	["core.bigfilethreshold", ["8388608"]],
	// A pusher with an account of his own may name another folder of hooks in his configuration.
	["core.hookspath", ["hooks"]],
	// A push stays one pack: loose objects are spread over folders that are not synced.
	["receive.unpacklimit", ["1"]],
	// Branches only: a pushed refs/replace/* would change what every git reads.
	["transfer.hiderefs", ["refs", "!refs/heads"]],
	// The one before stands for this one of earlier versions.
	["receive.hiderefs", []],
]);

/** Without the hook every forced push and every deletion is refused; with it, those of the service's own branches. */
const guarded = ["receive.denydeletes", "receive.denynonfastforwards"];

/**
 * Sets a repository up; what is as it should be is not written again.
 * @param isGuarded whether its hook judges what is pushed
 */
export async function applySettings(repository: string, isGuarded: boolean): Promise<void> {
	const wanted = new Map(settings);
	for (const name of guarded) wanted.set(name, isGuarded ? [] : ["true"]);
	const found = await readSettings(repository);
	for (const [name, values] of wanted) {
		const present = found.get(name) ?? [];
		if (String(present) === String(values)) continue;
		if (present.length > 0) await runGit(repository, ["config", "--unset-all", name]);
		for (const value of values) await runGit(repository, ["config", "--add", name, value]);
	}
}

/** The settings in a repository's own file. */
async function readSettings(repository: string): Promise<Map<string, string[]>> {
	const output = await runGit(repository, ["config", "--local", "--list", "-z"]);
	const found = new Map<string, string[]>();
	for (const record of output.toString("utf8").split("\0").filter(Boolean)) {
		// `<name>\n<value>`; a name without a value means true.
		const end = record.indexOf("\n");
		const name = end < 0 ? record : record.slice(0, end);
		found.set(name, [...(found.get(name) ?? []), end < 0 ? "true" : record.slice(end + 1)]);
	}
	return found;
}
