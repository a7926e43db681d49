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
	["receive.denydeletes", ["true"]],
	["receive.denynonfastforwards", ["true"]],
	["receive.fsckobjects", ["true"]],
	// A push stays one pack: loose objects are spread over folders that nobody puts on the disk.
	["receive.unpacklimit", ["1"]],
	// Branches only: whoever may push a refs/replace/* would change what every git reads.
	["receive.hiderefs", ["refs", "!refs/heads"]],
]);

/** Sets a repository up; what is as it should be is not written again. */
export async function applySettings(repository: string): Promise<void> {
	const found = await readSettings(repository);
	for (const [name, values] of settings) {
		if (String(found.get(name)) === String(values)) continue;
		const [first = "", ...others] = values;
		await runGit(repository, ["config", "--replace-all", name, first]);
		for (const value of others) await runGit(repository, ["config", "--add", name, value]);
	}
}

/** The settings in a repository's own file. */
async function readSettings(repository: string): Promise<Map<string, string[]>> {
	const output = await runGit(repository, ["config", "--local", "--list", "-z"]);
	const found = new Map<string, string[]>();
	for (const record of output.toString("utf8").split("\0").filter(Boolean)) {
		// `<name>\n<value>`; a name without a value stands for true.
		const end = record.indexOf("\n");
		const name = end < 0 ? record : record.slice(0, end);
		found.set(name, [...(found.get(name) ?? []), end < 0 ? "true" : record.slice(end + 1)]);
	}
	return found;
}
