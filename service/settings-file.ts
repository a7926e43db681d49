import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ifThereSync } from "../files/if-there.ts";
import type { Environment } from "./settings.ts";

/** The file with the settings of a checkout's service, beside package.json. The systemd unit and each command read it. */
export const settingsFileName = "fragments.env";

/**
 * Adds the settings of `fragments.env` in a folder to the environment, if that file exists. The file has lines of
 * `NAME=value`, like systemd's `EnvironmentFile`. Variables of the environment take precedence.
 * @throws {Error} for a line of another form, and if the environment's DATA_DIR does not exist and differs from the
 * file's: a command would make a second data folder that no service reads
 */
export function withSettingsFile(environment: Environment, folder: string): Environment {
	const path = join(folder, settingsFileName);
	const text = ifThereSync(path, () => readFileSync(path, "utf8"));
	if (text === null) return environment;
	const settings = parseSettings(text, path);
	const { DATA_DIR: named } = environment;
	const { DATA_DIR: configured } = settings;
	if (named && configured && resolve(folder, named) !== resolve(folder, configured) && !existsSync(named)) {
		throw new Error(
			`DATA_DIR: there is no folder ${named}, and ${path} names ${configured}. Leave DATA_DIR unset, or make the folder first`,
		);
	}
	return { ...settings, ...environment };
}

function parseSettings(text: string, path: string): Record<string, string> {
	const settings: Record<string, string> = {};
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (/^\s*(?:[#;].*)?$/.test(line)) continue;
		const [, name, quoted, plain] = /^\s*([A-Z][A-Z0-9_]*)=(?:(["'].*["'])|(.*?))\s*$/.exec(line) ?? [];
		// The error does not repeat the line, because the line may have a secret.
		if (name === undefined) throw new Error(`${path}: line ${index + 1}: must be NAME=value`);
		settings[name] = quoted?.slice(1, -1) ?? plain ?? "";
	}
	return settings;
}
