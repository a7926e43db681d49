import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { ifThereSync } from "../../store/files/files.ts";
import { type Environment, readGitHub, readServing, Variables } from "../configuration.ts";
import { parseTrustedProxies, type TrustedProxies } from "../node/client.ts";
import { maxItems } from "../read-request.ts";

export type Configuration = ReturnType<typeof readCore>;

type ReadSettings = (variables: Variables) => object;

/** The intersection of what the readers return. */
type SettingsOf<Readers extends readonly ReadSettings[]> = {
	[Index in keyof Readers]: (settings: ReturnType<Readers[Index]>) => void;
}[number] extends (settings: infer All) => void
	? All
	: object;

export const trialDataDir = ".data";

export function readConfiguration<Readers extends readonly ReadSettings[]>(
	env: Environment,
	...readers: Readers
): Configuration & SettingsOf<Readers> {
	const variables = new Variables(env);
	const configuration = Object.assign(readCore(variables), ...readers.map((read) => read(variables)));
	variables.check();
	return configuration;
}

function readCore(variables: Variables) {
	const noProxies: TrustedProxies = () => false;
	const dataDir = resolve(variables.text("DATA_DIR", trialDataDir));
	const { GITHUB_REPOSITORY, NODE_ENV } = variables.environment;
	const isProduction = GITHUB_REPOSITORY || NODE_ENV === "production";
	return {
		port: variables.integer("PORT", 8080, 0, 65_535),
		host: variables.text("HOST", "127.0.0.1"),
		dataDir,
		lastStart: variables.text("LAST_START", ""),
		/** A trial shows the examples of the checkout. */
		isTrial: !isProduction && dataDir === resolve(trialDataDir),
		...readServing(variables, { fallback: maxItems, max: maxItems }),
		cacheMegabytes: variables.integer("CACHE_MB", 64, 1, 100_000),
		logReads: variables.flag("LOG_READS", false),
		writesPerMinute: variables.integer("WRITES_PER_MINUTE", 6_000, 1, 1_000_000),
		trustedProxies: variables.parsed("TRUSTED_PROXIES", noProxies, parseTrustedProxies),
		network: {
			allowPrivate: variables.flag("HARVEST_ALLOW_PRIVATE", false),
			httpsProxy: variables.parsed("HTTPS_PROXY", { href: "" }, parseProxy).href,
			noProxy: variables.text("NO_PROXY", ""),
		},
		github: readGitHub(variables),
	};
}

/** With those that are read only with `GITHUB_REPOSITORY`. */
export function settingNames(readers: readonly ReadSettings[]): Set<string> {
	const variables = new Variables({ GITHUB_REPOSITORY: "owner/name" });
	readCore(variables);
	for (const read of readers) read(variables);
	return new Set([...variables.names, "SENDERS"]);
}

/** The problem does not repeat the value, which may have a password. */
function parseProxy(href: string): { href: string } | string {
	const isAddress = /^https?:\/\//.test(href) && URL.canParse(href);
	return isAddress ? { href } : "must be an http or https address, such as http://proxy.example:3128";
}

const settingsFileName = "fragments.env";

/**
 * Lines of `NAME=value`, and comments with `#` or `;`.
 * @throws {Error} for another line
 */
export function readSettingsFile(folder: string): Environment {
	const path = join(folder, settingsFileName);
	const text = ifThereSync(path, () => readFileSync(path, "utf8")) ?? "";
	const settings: Record<string, string> = {};
	for (const [index, line] of text.split(/\r?\n/).entries()) {
		if (/^\s*(?:[#;].*)?$/.test(line)) continue;
		const [, name, value = ""] = /^([A-Z][A-Z0-9_]*)=(.*)$/.exec(line.trim()) ?? [];
		// The message does not show the line, which may have a secret.
		if (name === undefined) throw new Error(`${path}: line ${index + 1}: must be NAME=value`);
		settings[name] = /^(["']).*\1$/.test(value) ? value.slice(1, -1) : value;
	}
	return settings;
}

/** Null if each name in the file is that of a setting. */
export function warnOfUnknown(folder: string, readers: readonly ReadSettings[]): string | null {
	const names = settingNames(readers);
	const unknown = Object.keys(readSettingsFile(folder)).filter((name) => !names.has(name));
	const path = join(folder, settingsFileName);
	return unknown.length === 0
		? null
		: `${path}: no settings: ${unknown.join(" ")} (docs/settings.md has all)`;
}
