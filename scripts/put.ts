import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Environment, type Io, Variables } from "../api/configuration.ts";
import { askService, errorsOf } from "../api/service/net/ask.ts";
import { type Configuration, readConfiguration, withoutStore } from "../api/service/settings.ts";
import { draftAddress } from "../registry/draft.ts";
import { judgeChange } from "../registry/judge.ts";
import { warningsOf } from "../registry/registration.ts";
import type { LayerStatus } from "../registry/schemas/answers.ts";
import { langs, layerPath, parseSmallkey, smallkeyRule } from "../registry/smallkey.ts";
import { layerFacts } from "../registry/targets/facts.ts";
import { renderAt, targetPath } from "../registry/targets/table.ts";
import { textsOf } from "../registry/texts.ts";
import { plain, tryJson } from "../registry/untrusted-text.ts";
import { utf8Of } from "../store/files/files.ts";
import {
	explain,
	findSecret,
	ifMatchOption,
	requestLine,
	requestOptions,
	sendRequest,
	signWith,
} from "./send/request.ts";
import { removeMany } from "./send/send-batch.ts";
import { createRun, exitCodes, parseCount } from "./terminal/command-line.ts";

const timeoutMs = 15_000;
const pauseMs = 500;

/**
 * @param maxSeconds waits as long for the end of the layer's harvest
 * @returns exit code: 1 if the layer is not registered, or no service answered its harvest; 2 if it has not
 * ended in time
 */
export async function printStatus(
	{ url, smallkey }: { url: string; smallkey: string },
	io: Io,
	maxSeconds?: number,
): Promise<number> {
	const address = `${url}/status/${encodeURIComponent(smallkey)}`;
	const until = performance.now() + (maxSeconds ?? 0) * 1_000;
	for (let isFirst = true; ; isFirst = false) {
		const answer = await askService(address, timeoutMs);
		if (!answer.ok) {
			io.warn(`${answer.status} from ${url}`);
			for (const error of errorsOf(answer)) io.warn(plain(error));
			return answer.status === 404 || answer.status === 400 ? exitCodes.wrong : exitCodes.unable;
		}
		const status = tryJson(answer.text) as LayerStatus | null;
		if (!status?.harvest || !status.health)
			throw new Error(`${address}: its answer is not the status of a layer`);
		const state = maxSeconds === undefined ? null : status.harvest.state;
		if (state === "waiting" && performance.now() <= until) {
			if (isFirst) io.warn("Waiting until its services are asked");
			await sleep(pauseMs);
			continue;
		}
		for (const line of statusLines(status)) io.print(plain(line));
		if (state !== "waiting") return state === "failed" ? exitCodes.wrong : exitCodes.done;
		io.warn(`The harvest still waits after ${maxSeconds} s: npx fragment-publisher status ${smallkey}`);
		return exitCodes.unable;
	}
}

function statusLines(status: LayerStatus): string[] {
	const { smallkey, registered, commit, review, declined, harvest, health } = status;
	const by = commit === null ? "" : ` by commit ${commit.slice(0, 12)}`;
	const reviews = [
		...(review ? [`a change waits for a reviewer on ${review.branch}, since ${review.since}`] : []),
		...(declined ? [`a change was declined at ${declined.at}: ${declined.reason}`] : []),
	];
	if (registered === null && reviews.length > 0) return [`${smallkey} is not registered yet`, ...reviews];
	return [
		`${smallkey} registered ${registered ?? "some time ago"}${by}`,
		...reviews,
		`${harvestWords[harvest.state]}${harvest.at ? `, at ${harvest.at}` : ""}`,
		...indented(harvest.findings),
		...(harvest.next_try ? [`  its services are asked again at ${harvest.next_try}`] : []),
		healthLine(health),
		...(health.repair ? [`  a repair waits for a reviewer on ${health.repair.branch}`] : []),
		...indented(health.findings),
	];
}

const harvestWords: Readonly<Record<LayerStatus["harvest"]["state"], string>> = {
	none: "nothing to be harvested",
	off: "not harvested: this service does not harvest",
	waiting: "harvest: waiting",
	done: "harvest: done",
	failed: "harvest: failed, no service of the layer answered",
};

function healthLine({ state, since, at }: LayerStatus["health"]): string {
	if (state === "unknown") return "health: not checked yet";
	return `health: ${state}${since ? ` since ${since}` : ""}${at ? `, seen at ${at}` : ""}`;
}

export function indented(lines: readonly string[] = []): string[] {
	return lines.map((line) => `  ${line}`);
}

function printPreview(
	{ smallkey, file, body }: { smallkey: string; file: string; body: Uint8Array },
	configuration: Configuration,
	io: Io,
): number {
	// All problems are printed at once, also with an impossible smallkey.
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
		const layer = layerFacts(lang, smallkey, registration, null, configuration);
		for (const target of configuration.targets) {
			const text = renderAt(target, layer);
			io.print(`/${targetPath(target, lang, smallkey)}`);
			io.print(text === null ? "(cannot be expressed there)" : JSON.stringify(JSON.parse(text), null, 2));
		}
	}
	return exitCodes.done;
}

async function printDraft(
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

/**
 * With white space or commas between them. `warn` gets a line about an unlikely encoding.
 * @throws {Error} that names the first invalid smallkey
 */
export async function readKeys(path: string, warn: (line: string) => void): Promise<string[]> {
	const bytes = await readFile(path);
	const utf8 = utf8Of(bytes);
	if (utf8 !== bytes) warn(`${path}: is in UTF-16, and read so`);
	const items = utf8.toString().match(/[^\s,]+/g) ?? [];
	const bad = items.find((item) => parseSmallkey(item) === null);
	if (bad !== undefined) {
		throw new Error(`${path}: a smallkey ${smallkeyRule}, not ${JSON.stringify(bad.slice(0, 80))}`);
	}
	return [...new Set(items)];
}

const defaultWaitSeconds = 120;

export const put = createRun("put", async ({ read, environment, io }) => {
	const [{ dryRun, wait, ...options }, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("<file>", "the registration")
			.option("--dry-run", "only check it, and show what viewers would read; nothing is signed or sent")
			.option(
				"--wait [seconds]",
				"then wait until its services were asked, and print how the layer is (120)",
				parseCount,
			)
			.option(...ifMatchOption),
	);
	const body = await readFile(file);
	const request = { ...options, method: "PUT", smallkey, body };
	const code = dryRun
		? printPreview({ smallkey, file, body }, readConfiguration(withoutStore(environment)), io)
		: await sendRequest(request, environment, io);
	if (code === exitCodes.done && wait && !dryRun)
		return printStatus(request, io, wait === true ? defaultWaitSeconds : wait);
	if (code === exitCodes.wrong) await printDraft({ smallkey, body }, environment, io);
	return code;
});

export const remove = createRun("remove", async ({ read, environment, io }) => {
	const [{ file, ...options }, keys] = await read((line) =>
		requestOptions(line.argument("[smallkey...]", "the layers"))
			.option("--file <file>", "a file of smallkeys with spaces, commas or lines between them")
			.option(...ifMatchOption)
			.option("--json", "print the result as JSON", false),
	);
	const smallkeys = [...new Set([...keys, ...(file === undefined ? [] : await readKeys(file, io.warn))])];
	const [smallkey] = smallkeys;
	if (smallkey === undefined) throw new Error("smallkey: is needed, or --file with smallkeys");
	const isMany = smallkeys.length > 1 || file !== undefined || options.json;
	if (isMany && options.ifMatch !== undefined)
		throw new Error("--if-match: with one smallkey, and without --file and --json");
	if (isMany) return removeMany(smallkeys, options, environment, io);
	const request = { ...options, method: "DELETE", smallkey, body: new Uint8Array(0) };
	return sendRequest(request, environment, io);
});

export const sign = createRun("sign", async ({ read, environment, io }) => {
	const [{ explain: isExplained, ...options }, smallkey, file] = await read((line) =>
		requestLine(line)
			.argument("[file]", "the registration; without one a removal is signed")
			.option("--explain", "show the signed text with its parts, and what is sent, for a person"),
	);
	const body = file === undefined ? new Uint8Array(0) : await readFile(file);
	const method = file === undefined ? "DELETE" : "PUT";
	const key = await findSecret(options.sender ?? null, environment, io);
	const signed = await signWith(key, { ...options, method, smallkey, body }, io.now());
	const headers = Object.entries(signed.headers).map(([name, text]) => `${name}: ${text}`);
	io.print((isExplained ? explain(signed) : headers).join("\n"));
});
