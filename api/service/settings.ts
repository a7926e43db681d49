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

/** Whether the Levenshtein distance is at most `edits`. */
function isNear(from: string, to: string, edits: number): boolean {
	if (from === "" || to === "") return from.length + to.length <= edits;
	const [fromRest, toRest] = [from.slice(1), to.slice(1)];
	if (from[0] === to[0]) return isNear(fromRest, toRest, edits);
	const pairs = [[fromRest, toRest] as const, [fromRest, to] as const, [from, toRest] as const];
	return edits > 0 && pairs.some(([a, b]) => isNear(a, b, edits - 1));
}

/** Unknown names in the settings file, and names in the environment that are nearly a setting's. */
export function unknownSettings(
	env: Environment,
	folder: string,
	readers: readonly ReadSettings[],
): string[] {
	const names = [...settingNames(readers), "NODE_ENV"];
	const file = readSettingsFile(folder);
	const isMisspelt = (name: string) =>
		name.length > 4 &&
		names.some(
			(other) => isNear(name, other, 2) || (name.length > 10 && other.startsWith(name.slice(0, -1))),
		);
	return Object.keys({ ...file, ...env }).filter(
		(name) => !names.includes(name) && (name in file || isMisspelt(name)),
	);
}
