import { isoTime } from "../../api/service/layer-status.ts";
import { counted, firstOf } from "../../registry/untrusted.ts";
import { targetsText } from "./fragment-changes.ts";
import { countErrors, type LayerRow, maxDetailed, type Review } from "./review.ts";
import { isStale, readReviews, smallkeysOf, staleText } from "./waiting.ts";

const maxNames = 5;

export function indent(lines: readonly string[]): string[] {
	return lines.map((line) => `  ${line}`);
}

/** No line starts with a file's name: GitHub Actions interprets `::` there as a command. */
export function pullLines(review: Review): string[] {
	const { obstacle, outside, approvals } = review;
	const groups = approvals ?? [];
	return [
		...(obstacle === null ? [] : [`error It cannot be merged: ${obstacle}`]),
		...remarkLines(review),
		...outside.map((path) => `note ${path}: is no file of a layer, for the operators to look at`),
		...groups.map(({ owners, paths }) => `owners ${owners.join(" ")}: ${firstOf(paths, maxNames)}`),
		summaryLine(review),
	];
}

function remarkLines({ remarks }: Review): string[] {
	return remarks.map(({ level, file, line, text }) => `${level} ${file}:${line}: ${text}`);
}

export function summaryLine(review: Review): string {
	const layers = counted(review.layers.length, "layer");
	const warnings = review.remarks.filter(({ level }) => level === "warning");
	return `${layers} changed, ${countErrors(review)} to correct, ${counted(warnings.length, "warning")}`;
}

export function changeLines(review: Review): string[] {
	const { outside, layers } = review;
	return [
		...remarkLines(review),
		...outside.map((path) => `error ${path}: is no file of a layer`),
		...layers.flatMap(layers.length > maxDetailed ? rowLine : layerLines),
	];
}

function rowLine({ smallkey, verb, state, name }: LayerRow) {
	return [verb.padEnd("changed".length), smallkey, state, name].filter(Boolean).join("  ");
}

function layerLines({ smallkey, verb, fragments, draft }: LayerRow): string[] {
	return [
		`${smallkey}: ${verb}`,
		...fragments.flatMap((change) => {
			const { lang, lines, hidden } = change;
			const rest = hidden > 0 ? [`… ${counted(hidden, "more line")}`] : [];
			return [`  viewers in ${lang} read (${targetsText(change)}):`, ...indent(indent([...lines, ...rest]))];
		}),
		...(draft === null ? [] : [`  on the map, as a draft: ${draft}`]),
	];
}

/** The oldest first. */
export async function reviewLines(repository: string): Promise<string[]> {
	const lines: string[] = [];
	for (const { branch, commit, ...review } of await readReviews(repository, "waiting")) {
		const { author, timeMs, subject, isOfMany } = review;
		const smallkeys = isOfMany ? await smallkeysOf(repository, commit) : [];
		const layers = `${counted(smallkeys.length, "layer")}: ${firstOf(smallkeys, maxNames)}`;
		const what = isOfMany ? layers : subject;
		const stale = (await isStale(repository, commit)) ? `; ${staleText}` : "";
		const about = `${branch}  of ${author}, ${isoTime(timeMs).slice(0, 10)}: ${what}${stale}`;
		lines.push(`${about}  (npx fragment-publisher review show ${branch})`);
	}
	return lines;
}
