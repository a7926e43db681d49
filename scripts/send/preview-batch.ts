import pMap from "p-map";
import { type Environment, type Io, Variables } from "../../api/configuration.ts";
import { askService, errorsOf } from "../../api/service/github.ts";
import type { Configuration } from "../../api/service/settings.ts";
import { draftAddress } from "../../registry/draft.ts";
import { judgeChange } from "../../registry/judge.ts";
import { canonicalText, type Registration, warningsOf } from "../../registry/registration.ts";
import { langs, layerPath, parseSmallkey, smallkeyRule } from "../../registry/smallkey.ts";
import { renderLayer, targetPath } from "../../registry/targets/table.ts";
import { textsOf } from "../../registry/texts.ts";
import { counted, plain, tryJson } from "../../registry/untrusted-text.ts";
import { blobId } from "../../store/hashes.ts";
import { exitCodes } from "../terminal/command-line.ts";
import { readCatalogueKeys } from "./others.ts";

/**
 * Prints problems and warnings, and the fragments before the first harvest. `file`: a path for the messages.
 * @returns exit code: 1 if the registration is wrong
 */
export function printPreview(
	{ smallkey, file, body }: { smallkey: string; file: string; body: Uint8Array },
	configuration: Configuration,
	io: Io,
): number {
	// With an impossible smallkey, the document is judged under another one: all problems are printed at
	// once.
	const name = parseSmallkey(smallkey) ?? "any";
	const edit = { path: layerPath(name), kind: "file", bytes: body } as const;
	const { layers, problems } = judgeChange(null, [edit], "anyone");
	const registration = layers.get(name)?.registration;
	const wrong = textsOf(problems).map((line) => `${file}: ${line}`);
	if (name !== smallkey) wrong.unshift(`${smallkey}: a smallkey ${smallkeyRule}`);
	for (const line of wrong) io.warn(plain(line));
	if (!registration || wrong.length > 0) return exitCodes.wrong;
	for (const warning of textsOf(warningsOf(registration))) io.warn(plain(`warning: ${file}: ${warning}`));
	for (const lang of langs) {
		const texts = renderLayer(configuration.targets, lang, smallkey, registration, null, configuration);
		for (const [index, target] of configuration.targets.entries()) {
			const text = texts[index] ?? null;
			io.print(`/${targetPath(target, lang, smallkey)}`);
			const shown = text && JSON.stringify(JSON.parse(text), null, 2);
			io.print(shown ?? "(cannot be expressed there)");
		}
	}
	return exitCodes.done;
}

/** Prints nothing without `PUBLIC_URL`, or if the registration is too long for an address. */
export async function printDraft(
	{ smallkey, body }: { smallkey: string; body: Uint8Array },
	environment: Environment,
	io: Io,
): Promise<void> {
	const variables = new Variables(environment);
	const publicUrl = variables.address("PUBLIC_URL");
	variables.check();
	const address = await draftAddress(publicUrl, { smallkey, text: new TextDecoder().decode(body) });
	if (address !== null) io.warn(`Try it as a draft: ${address}`);
}

/** Sorted smallkeys. */
export type Comparison = Record<"added" | "changed" | "unchanged" | "removed", string[]>;

/** @param verbOf null: the layer is refused */
export async function compareBatch(
	registrations: ReadonlyMap<string, Registration>,
	removed: readonly string[],
	verbOf: (smallkey: string, registration: Registration) => Promise<keyof Comparison | null>,
): Promise<Comparison> {
	const comparison: Comparison = { added: [], changed: [], unchanged: [], removed: [...removed] };
	await pMap(
		registrations,
		async ([smallkey, registration]) => {
			const verb = await verbOf(smallkey, registration);
			if (verb) comparison[verb].push(smallkey);
		},
		{ concurrency: maxLookups },
	);
	for (const keys of Object.values(comparison)) keys.sort();
	return comparison;
}

/** A service answers two look-ups at the same time. */
const maxLookups = 2;
const lookupTimeoutMs = 60_000;

/** The member of a 404 of a service whose layers are on GitHub (`answerStatus` in api/app.ts). */
const elsewhere = /^status: /;

/** Nothing is signed or sent. @throws {Error} if the service does not say what it has */
export async function compareWithService(
	registrations: ReadonlyMap<string, Registration>,
	url: string,
	removed: readonly string[],
	io: Pick<Io, "warn">,
): Promise<Comparison> {
	let catalogue: Promise<ReadonlySet<string>> | null = null;
	const readCatalogue = async () => {
		io.warn(
			"The layers are on GitHub, and the service does not say which differ: registered ones are changed here",
		);
		return new Set(await readCatalogueKeys(url, "--dry-run"));
	};
	return compareBatch(registrations, removed, async (smallkey, registration) => {
		const address = `${url}/status/${encodeURIComponent(smallkey)}`;
		const answer = await askService(address, lookupTimeoutMs);
		if (answer.ok) {
			const { etag } = (tryJson(answer.text) ?? {}) as { etag?: unknown };
			if (etag === null) return "added";
			return etag === `"${await blobId(canonicalText(registration))}"` ? "unchanged" : "changed";
		}
		if (answer.status !== 404) throw new Error(`${address}: answers ${answer.status}`);
		if (!errorsOf(answer).some((error) => elsewhere.test(error))) return "added";
		catalogue ??= readCatalogue();
		return (await catalogue).has(smallkey) ? "changed" : "added";
	});
}

export function printComparison(comparison: Comparison, isJson: boolean, io: Pick<Io, "print">): void {
	if (isJson) return io.print(JSON.stringify(comparison));
	const { unchanged, ...changing } = comparison;
	const total = changing.added.length + changing.changed.length + unchanged.length;
	for (const [verb, keys] of Object.entries(changing))
		for (const key of keys) io.print(`${verb.padEnd("unchanged".length)}${key}`);
	const counts = Object.entries(changing).map(([verb, keys]) => `${keys.length} ${verb}`);
	io.print(
		`${counts.join(", ")}, ${unchanged.length} as they are: ${counted(total, "layer")}; nothing was sent`,
	);
}
