import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Settings } from "../../api/app.ts";
import { parseSenders, type Senders } from "../../api/senders.ts";

/** The variables of the environment, as given. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where the layers are when not on this machine. */
export interface GitHubSettings {
	/** `owner/name` */
	repository: string;
	branch: string;
	apiUrl: string;
	auth: { token: string } | { appId: string; privateKey: string };
}

/** Everything that harvesting is told. */
export interface HarvestSettings {
	on: boolean;
	/** Whether services on private addresses may be asked. */
	allowPrivate: boolean;
	/** Milliseconds between two harvests of one layer. */
	every: number;
	/** The map's spatial reference, an EPSG or Esri number. */
	mapWkid: number;
	/** `HTTPS_PROXY` and `NO_PROXY`, empty where unset. */
	httpsProxy: string;
	noProxy: string;
}

/** The whole configuration, read once (README, "Configuration"). */
export interface Configuration extends Omit<Settings, "senders"> {
	port: number;
	host: string;
	/** Absolute path. */
	dataDir: string;
	github: GitHubSettings | null;
	harvest: HarvestSettings;
	logReads: boolean;
}

/** Reads and checks one variable after the other, and reports every bad one at once. */
class Variables {
	readonly problems: string[] = [];
	readonly #env: Environment;

	constructor(env: Environment) {
		this.#env = env;
	}

	text(name: string, fallback: string): string {
		return this.#env[name] || fallback;
	}

	integer(name: string, fallback: number, least: number, most: number): number {
		const text = this.text(name, String(fallback));
		const value = Number(text);
		if (/^\d+$/.test(text) && value >= least && value <= most) return value;
		return this.#bad(name, `must be a whole number from ${least} to ${most}, not ${text}`, fallback);
	}

	flag(name: string, fallback: boolean): boolean {
		const text = this.text(name, fallback ? "on" : "off");
		if (text === "on" || text === "off") return text === "on";
		return this.#bad(name, `must be on or off, not ${text}`, fallback);
	}

	/** A time span such as `7d`, `12h`, `30m` or `45s`, in milliseconds. */
	span(name: string, fallback: string): number {
		const text = this.text(name, fallback);
		const span = parseSpan(text);
		return span ?? this.#bad(name, `must be a time such as 7d, 12h, 30m or 45s, not ${text}`, 0);
	}

	matching(name: string, fallback: string, pattern: RegExp, rule: string): string {
		const text = this.text(name, fallback);
		if (text === "" || pattern.test(text)) return text;
		return this.#bad(name, `must be ${rule}, not ${text}`, fallback);
	}

	#bad<T>(name: string, rule: string, fallback: T): T {
		this.problems.push(`${name}: ${rule}`);
		return fallback;
	}
}

/** Milliseconds of a time span such as `7d`, `12h`, `30m` or `45s`; null where it is none, or not above 0. */
export function parseSpan(text: string): number | null {
	const match = /^([1-9]\d{0,6})([dhms])$/.exec(text);
	const units: Record<string, number> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
	return match ? Number(match[1]) * (units[match[2] as string] as number) : null;
}

const addressTemplate = /^https?:\/\/[^\s"<>]+$/;

/**
 * Reads the configuration from the environment.
 * @throws {Error} with a line for each bad variable
 */
export function readConfiguration(env: Environment): Configuration {
	const variables = new Variables(env);
	const configuration: Configuration = {
		port: variables.integer("PORT", 8080, 0, 65_535),
		host: variables.text("HOST", "127.0.0.1"),
		dataDir: resolve(variables.text("DATA_DIR", ".data")),
		basePath: variables.matching("BASE_PATH", "", /^(?:\/[A-Za-z0-9._~-]+)+$/, "a path such as /rcs"),
		docsMaxKeys: variables.integer("DOCS_MAX_KEYS", 1000, 1, 1000),
		metadataUrl: variables.matching("METADATA_URL", "", addressTemplate, "an address with {0} in it"),
		catalogueUrl: variables.matching("CATALOGUE_URL", "", addressTemplate, "an address with {0} in it"),
		logReads: variables.flag("LOG_READS", false),
		harvest: readHarvest(variables),
		github: readGitHub(variables),
	};
	if (variables.problems.length > 0) throw new Error(variables.problems.join("\n"));
	return configuration;
}

function readHarvest(variables: Variables): HarvestSettings {
	return {
		on: variables.flag("HARVEST", true),
		allowPrivate: variables.flag("HARVEST_ALLOW_PRIVATE", false),
		every: variables.span("HARVEST_EVERY", "7d"),
		mapWkid: variables.integer("MAP_WKID", 3978, 1, 999_999),
		httpsProxy: variables.text("HTTPS_PROXY", ""),
		noProxy: variables.text("NO_PROXY", ""),
	};
}

function readGitHub(variables: Variables): GitHubSettings | null {
	const repository = variables.matching("GITHUB_REPOSITORY", "", /^[\w.-]+\/[\w.-]+$/, "owner/name");
	if (repository === "") return null;
	const token = variables.text("GITHUB_TOKEN", "");
	const appId = variables.text("GITHUB_APP_ID", "");
	const privateKey = variables.text("GITHUB_APP_PRIVATE_KEY", "").replaceAll("\\n", "\n");
	if (token === "" && (appId === "" || privateKey === "")) {
		variables.problems.push(
			"GITHUB_REPOSITORY: needs GITHUB_TOKEN, or GITHUB_APP_ID and GITHUB_APP_PRIVATE_KEY",
		);
	}
	return {
		repository,
		branch: variables.text("GITHUB_BRANCH", "main"),
		apiUrl: variables.matching(
			"GITHUB_API_URL",
			"https://api.github.com",
			/^https?:\/\/[^\s]+$/,
			"an http or https address",
		),
		auth: token === "" ? { appId, privateKey } : { token },
	};
}

/** The senders, and where they stand. */
export interface SendersFile {
	senders: Senders;
	/** `SENDERS`, or the file's path. */
	place: string;
	/** Id of the sender that was made just now, or null. */
	made: string | null;
}

/** Path of the senders file in a data folder. */
export function sendersPath(dataDir: string): string {
	return join(dataDir, "senders.json");
}

/** Id of the sender that a first start makes. */
const firstSender = "publisher";

/** Reads the senders from `SENDERS`, else from the senders file, made with one random secret where there is none. */
export async function readSenders(env: Environment, dataDir: string): Promise<SendersFile> {
	if (env.SENDERS) return { senders: parseSenders(env.SENDERS, "SENDERS"), place: "SENDERS", made: null };
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
	if (text !== null) return { senders: parseSenders(text, place), place, made: null };
	const made = JSON.stringify({ [firstSender]: randomSecret() }, null, 2);
	await mkdir(dataDir, { recursive: true });
	await writeSenders(dataDir, `${made}\n`);
	return { senders: parseSenders(made, place), place, made: firstSender };
}

/** A secret of 32 random bytes: 43 characters. */
export function randomSecret(): string {
	return randomBytes(32).toString("base64url");
}

/** Writes the senders file, readable by its owner only. */
export async function writeSenders(dataDir: string, text: string): Promise<void> {
	const path = sendersPath(dataDir);
	await writeFile(path, text, { mode: 0o600 });
	await chmod(path, 0o600);
}
