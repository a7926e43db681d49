import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ifThereSync } from "../files/if-there.ts";
import type { Environment } from "./settings.ts";

/** The settings of the service of a checkout, beside its package.json: its unit and each command read them. */
export const settingsFileName = "fragments.env";

/**
 * The environment with the settings of `fragments.env` in a folder, where that file exists: lines of `NAME=value`, as
 * systemd's `EnvironmentFile`. Variables of the environment win.
 * @throws {Error} for a line of another form, and for a DATA_DIR of the environment that does not exist beside one of
 * the file: a command would make a second data folder that no service reads
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
		// A line may hold a secret: it is not repeated.
		if (name === undefined) throw new Error(`${path}: line ${index + 1}: must be NAME=value`);
		settings[name] = quoted?.slice(1, -1) ?? plain ?? "";
	}
	return settings;
}
