import { defaultMapWkid, mapWkids } from "../registry/extents.ts";
import { mapServerTypes } from "../registry/targets/facts.ts";
import { parseTargets, targetNames } from "../registry/targets/table.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Io {
	print(text: string): void;
	warn(text: string): void;
	now(): Date;
	/** `isHidden`: the answer is not echoed. Null without a terminal. */
	ask(question: string, options?: { isHidden: boolean }): Promise<string | null>;
	/** Aborts at the first Ctrl-C, SIGTERM or SIGHUP, which without this call end the process. */
	interrupted(): AbortSignal;
}

/** A command ends with exit code 1, and with 2 for any other error. */
export class WrongError extends Error {}

export class Variables {
	readonly problems: string[] = [];
	readonly names = new Set<string>();

	constructor(readonly environment: Environment) {}

	text(name: string, fallback: string): string {
		this.names.add(name);
		return this.environment[name] || fallback;
	}

	integer(name: string, fallback: number, min: number, max: number): number {
		const parse = (text: string) =>
			/^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : null;
		return this.#read(name, fallback, parse, `a whole number from ${min} to ${max}`);
	}

	flag(name: string, fallback: boolean): boolean {
		return this.oneOf(name, fallback ? "on" : "off", ["on", "off"], "on or off") === "on";
	}

	span(name: string, fallback: string): number {
		return this.#read(name, parseSpan(fallback) ?? 0, parseSpan, "a time such as 7d, 12h, 30m or 45s");
	}

	matching(name: string, fallback: string, pattern: RegExp, rule: string): string {
		return this.#read(name, fallback, (text) => (pattern.test(text) ? text : null), rule);
	}

	/** Without a slash at its end; empty if not set. */
	address(name: string): string {
		const rule = "an http or https address without ? and #";
		return this.matching(name, "", /^https?:\/\/[^\s"<>?#]+$/, rule).replace(/(?<!\/)\/+$/, "");
	}

	oneOf<T extends number | string>(
		name: string,
		fallback: T,
		choices: readonly T[],
		rule = `one of ${choices.join(" ")}`,
	): T {
		const find = (text: string) => choices.find((choice) => String(choice) === text) ?? null;
		return this.#read(name, fallback, find, rule);
	}

	/** `parse` returns an error as a text. */
	parsed<T extends object>(name: string, fallback: T, parse: (text: string) => T | string): T {
		const text = this.text(name, "");
		if (text === "") return fallback;
		const value = parse(text);
		if (typeof value !== "string") return value;
		this.problems.push(`${name}: ${value}`);
		return fallback;
	}

	check(): void {
		if (this.problems.length > 0) throw new Error(this.problems.join("\n"));
	}

	#read<T>(name: string, fallback: T, parse: (text: string) => T | null, rule: string): T {
		const text = this.text(name, "");
		if (text === "") return fallback;
		const value = parse(text);
		if (value === null) this.problems.push(`${name}: must be ${rule}, not ${text}`);
		return value ?? fallback;
	}
}

const unitsMs: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** `7d`, `12h`, `30m` or `45s` in milliseconds. */
export function parseSpan(text: string): number | null {
	const [, number, unit = ""] = /^([1-9]\d{0,6})([dhms])$/.exec(text) ?? [];
	const unitMs = unitsMs[unit];
	return unitMs === undefined ? null : Number(number) * unitMs;
}

const addressTemplate = /^https?:\/\/[^\s"<>{]*\{0\}[^\s"<>]*$/;

export function readServing(variables: Variables, docsMaxKeys: { fallback: number; max: number }) {
	return {
		publicUrl: variables.address("PUBLIC_URL"),
		site: variables.flag("SITE", true),
		basePath: variables.matching("BASE_PATH", "", /^(?:\/[A-Za-z0-9._~-]+)+$/, "a path such as /rcs"),
		docsMaxKeys: variables.integer("DOCS_MAX_KEYS", docsMaxKeys.fallback, 1, docsMaxKeys.max),
		targets: variables.parsed("TARGETS", targetNames, parseTargets),
		metadataUrl: variables.matching("METADATA_URL", "", addressTemplate, "an address with {0} in it"),
		catalogueUrl: variables.matching("CATALOGUE_URL", "", addressTemplate, "an address with {0} in it"),
		mapWkid: variables.oneOf("MAP_WKID", defaultMapWkid, mapWkids),
		mapServerType: variables.oneOf("V2_MAP_SERVER", "esriDynamic", mapServerTypes),
	};
}

export function readGitHub(variables: Variables) {
	const repository = variables.matching("GITHUB_REPOSITORY", "", /^[\w.-]+\/[\w.-]+$/, "owner/name");
	if (repository === "") return null;
	const token = variables.text("GITHUB_TOKEN", "");
	const appId = variables.text("GITHUB_APP_ID", "");
	const privateKey = variables.text("GITHUB_APP_PRIVATE_KEY", "");
	const rule = "an http or https address";
	return {
		repository,
		branch: variables.text("GITHUB_BRANCH", "main"),
		apiUrl: variables.matching("GITHUB_API_URL", "https://api.github.com", /^https?:\/\/\S+$/, rule),
		// Complete only where requests are sent: GitHub Actions sets GITHUB_REPOSITORY alone.
		auth: token === "" ? { appId, privateKey } : { token },
	};
}
