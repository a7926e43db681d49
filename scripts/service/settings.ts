import { randomBytes } from "node:crypto";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseTrustedProxies, type TrustedProxies } from "../../api/adapters/node/address.ts";
import {
	type Environment,
	type GitHubSettings,
	readGitHub,
	readServing,
	readWriteLimits,
	Variables,
} from "../../api/configuration.ts";
import type { Settings } from "../../api/context.ts";
import type { WriteLimits } from "../../api/limits.ts";
import { parseSenders, type Senders } from "../../api/senders.ts";

export { type Environment, type GitHubSettings, parseSpan } from "../../api/configuration.ts";

/** Everything that harvesting is told. */
export interface HarvestSettings {
	on: boolean;
	/** Whether services on private addresses may be asked. */
	allowPrivate: boolean;
	/** Milliseconds between two harvests of one layer. */
	every: number;
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
	/** The map's spatial reference, by well-known id: of what is harvested, and of what is rendered. */
	mapWkid: number;
	github: GitHubSettings | null;
	harvest: HarvestSettings;
	logReads: boolean;
	writes: WriteLimits;
	trustedProxies: TrustedProxies;
}

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
		...readServing(variables, { fallback: 1000, most: 1000 }),
		logReads: variables.flag("LOG_READS", false),
		writes: readWriteLimits(variables),
		trustedProxies: variables.parsed("TRUSTED_PROXIES", [], parseTrustedProxies),
		harvest: readHarvest(variables),
		github: readGitHub(variables),
	};
	variables.check();
	return configuration;
}

/**
 * The environment of a script that needs no store: GitHub Actions sets GITHUB_REPOSITORY in every step, and without
 * credentials beside it that would be an error.
 */
export function withoutStore(env: Environment): Environment {
	return { ...env, GITHUB_REPOSITORY: undefined };
}

function readHarvest(variables: Variables): HarvestSettings {
	return {
		on: variables.flag("HARVEST", true),
		allowPrivate: variables.flag("HARVEST_ALLOW_PRIVATE", false),
		every: variables.span("HARVEST_EVERY", "7d"),
		httpsProxy: variables.text("HTTPS_PROXY", ""),
		noProxy: variables.text("NO_PROXY", ""),
	};
}

/** The senders, and where they stand. */
export interface SendersFile {
	senders: Senders;
	/** `SENDERS`, or the file's path. */
	place: string;
	/** Id of the sender that was created just now, or null. */
	created: string | null;
}

/** Path of the senders file in a data folder. */
export function sendersPath(dataDir: string): string {
	return join(dataDir, "senders.json");
}

/** Id of the sender that a first start creates. */
const firstSender = "publisher";

/** Reads the senders from `SENDERS`, else from the senders file, created with one random secret where there is none. */
export async function readSenders(env: Environment, dataDir: string): Promise<SendersFile> {
	if (env.SENDERS) return { senders: parseSenders(env.SENDERS, "SENDERS"), place: "SENDERS", created: null };
	const place = sendersPath(dataDir);
	const text = await readFile(place, "utf8").catch((error: NodeJS.ErrnoException) => {
		if (error.code === "ENOENT") return null;
		throw error;
	});
	if (text !== null) return { senders: parseSenders(text, place), place, created: null };
	const created = JSON.stringify({ [firstSender]: randomSecret() }, null, 2);
	await mkdir(dataDir, { recursive: true });
	await writeSenders(dataDir, `${created}\n`);
	return { senders: parseSenders(created, place), place, created: firstSender };
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
