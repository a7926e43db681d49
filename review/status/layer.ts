import { setTimeout as sleep } from "node:timers/promises";
import type { LayerStatus } from "../../api/status.ts";
import { tryJson } from "../../registry/try-json.ts";
import { askService, errorsOf, type ServiceAnswer } from "../../service/ask.ts";
import { exitCodes } from "../../terminal/command-line.ts";
import { type Io, printError, printLine } from "../../terminal/io.ts";
import { plain } from "../../terminal/plain.ts";

/** Longest wait for one answer, and the pause between two requests, in milliseconds. */
const timeoutMs = 15_000;
const pauseMs = 500;

export interface LayerPlace {
	/** Address of the service with its base path, without a `/` at the end. */
	url: string;
	smallkey: string;
}

/** Asks a service for a layer's status. @throws {Error} if it does not answer, or its answer is not a status */
async function ask({ url, smallkey }: LayerPlace): Promise<LayerStatus | ServiceAnswer> {
	const address = `${url}/status/${encodeURIComponent(smallkey)}`;
	const answer = await askService(address, timeoutMs);
	if (!answer.ok) return answer;
	const value = tryJson(answer.text) as Partial<LayerStatus> | null;
	if (value?.harvest && value.health) return value as LayerStatus;
	throw new Error(`${address}: its answer is not the status of a layer`);
}

/**
 * Prints a layer's status.
 * @returns exit code: 1 if it is not registered there
 */
export async function printStatus(place: LayerPlace, io: Io): Promise<number> {
	return printAnswer(place, await ask(place), io);
}

/**
 * Waits until a layer's harvest has ended, then prints the layer's status.
 * @returns exit code: 1 if none of its services answered, 2 if the harvest has not ended after `maxSeconds`
 */
export async function waitForHarvest(place: LayerPlace, maxSeconds: number, io: Io): Promise<number> {
	const until = performance.now() + maxSeconds * 1_000;
	let answer = await ask(place);
	const stateOf = () => ("harvest" in answer ? answer.harvest.state : null);
	const isWaiting = () => stateOf() === "waiting";
	if (isWaiting()) printError(io, "Waiting until its services are asked");
	while (isWaiting() && performance.now() <= until) {
		await sleep(pauseMs);
		answer = await ask(place);
	}
	const code = printAnswer(place, answer, io);
	if (!isWaiting()) return stateOf() === "failed" ? exitCodes.wrong : code;
	printError(io, `The harvest still waits after ${maxSeconds} s: npx fragments status ${place.smallkey}`);
	return exitCodes.unable;
}

/** Prints a service's answer about a layer. @returns exit code */
function printAnswer({ url }: LayerPlace, answer: LayerStatus | ServiceAnswer, io: Io): number {
	if ("harvest" in answer) {
		for (const line of statusLines(answer)) printLine(io, plain(line));
		return exitCodes.done;
	}
	printError(io, `${answer.status} from ${url}`);
	for (const error of errorsOf(answer)) printError(io, plain(error));
	return answer.status === 404 || answer.status === 400 ? exitCodes.wrong : exitCodes.unable;
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
		harvestLine(harvest),
		...indented(harvest.findings),
		...(harvest.next_try ? [`  its services are asked again at ${harvest.next_try}`] : []),
		healthLine(health),
		...(health.repair ? [`  a repair waits for a reviewer on ${health.repair}`] : []),
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

function harvestLine({ state, at }: LayerStatus["harvest"]): string {
	return at ? `${harvestWords[state]}, at ${at}` : harvestWords[state];
}

function healthLine({ state, since, at }: LayerStatus["health"]): string {
	if (state === "unknown") return "health: not checked yet";
	return `health: ${state}${since ? ` since ${since}` : ""}${at ? `, seen at ${at}` : ""}`;
}

function indented(lines: readonly string[] = []): string[] {
	return lines.map((line) => `  ${line}`);
}
