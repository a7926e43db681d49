import { runGit } from "../../git/run.ts";

/**
 * Settings of the repository, name → values (git-config(1)). Acknowledged commits survive a power cut, git never runs
 * maintenance beside the writer, and pushes are restricted.
 */
const settings: ReadonlyMap<string, readonly string[]> = new Map([
	["core.fsync", ["committed"]],
	["core.fsyncmethod", ["fsync"]],
	["gc.auto", ["0"]],
	["maintenance.auto", ["false"]],
	["receive.autogc", ["false"]],
	["receive.fsckobjects", ["true"]],
	// A larger pack is refused during its transfer; 100,000 layers take about 40 MB.
	["receive.maxinputsize", ["268435456"]],
	// A larger file is neither unpacked in memory nor stored as a delta.
	["core.bigfilethreshold", ["8388608"]],
	// A pusher with an account on this machine could otherwise name another folder of hooks in their configuration.
	["core.hookspath", ["hooks"]],
	// A push stays one pack: loose objects are spread over folders that are not synced.
	["receive.unpacklimit", ["1"]],
	// Branches only: a pushed refs/replace/* would change what every git reads.
	["transfer.hiderefs", ["refs", "!refs/heads"]],
	// Earlier versions of this project set this one instead of `transfer.hiderefs`.
	["receive.hiderefs", []],
]);

/** Without the hook, git refuses all forced pushes and deletions; the hook refuses those of the service's branches. */
const guarded = ["receive.denydeletes", "receive.denynonfastforwards"];

/**
 * Applies the settings to a repository. A correct setting is not written again.
 * @param isGuarded whether the repository's hook judges pushes
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

/** Reads the settings in a repository's own file. */
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
