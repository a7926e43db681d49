import { code, counted, fenced, linesWithin } from "../../registry/untrusted-text.ts";
import type { Located } from "./layer-changes.ts";
import {
	type FragmentChange,
	isWrong,
	type LayerChange,
	layerRows,
	maxDetailed,
	type Review,
	remarksOf,
	servicesOf,
} from "./review.ts";

/** First line of the review's comment. A later run finds the comment by it; GitHub does not show it. */
export const marker = "<!-- fragment-publisher: review -->";

/** Characters of a comment: GitHub accepts 65,536. */
export const maxCommentLength = 65_000;

const maxListLength = 10_000;

/** Characters of the table of a large change, in which 300 layers have room, and of a name in it. */
const maxTableLength = 45_000;
const maxNameLength = 40;

const closingLength = 200;

/**
 * Renders a review as Markdown: the marker, then independent blocks. Blocks that do not fit are left out as a whole and
 * counted in the last line, so that a shortened comment is well formed too.
 */
export function renderComment(review: Review, links: Links = null): string {
	const { obstacle, services, outside, layers } = review;
	// The draft page shows the problems of a wrong layer, too.
	const drafts = layers.filter(({ verb, draft }) => verb === "wrong" && draft !== null);
	const unasked = services.unasked.length;
	const remarks = (located: readonly Located[]) =>
		located.map(
			({ file, line, text }) => `- ${linked(file, links?.(file, line))} line ${line}: ${code(text)}`,
		);
	const blocks = [
		`${marker}\n### ${verdict(review)}`,
		...(obstacle === null ? [] : [`It cannot be merged: ${obstacle}.`]),
		summary(review),
		nextStep(review),
		...remarksOf(review).flatMap(({ title, located }) => titled(title, remarks(located))),
		...titled(
			"As drafts",
			drafts.map(({ smallkey, draft }) => `- ${linked(smallkey, draft)}`),
		),
		...(unasked > 0
			? [`The services of ${counted(unasked, "layer")} were not asked: there are too many at once.`]
			: []),
		...titled(
			"Files outside the layers, for the operators to look at",
			outside.map((path) => `- ${code(path)}`),
		),
	];
	return joinBounded(blocks, review);
}

function nextStep(review: Review): string {
	if (isWrong(review))
		return "**Next:** correct what is listed here on the same branch; this comment follows.";
	if (!review.approvals) return "**Next:** the operators put `layers/owners.json` in order.";
	if (review.approvals.length === 0) return "**Next:** it can be merged.";
	return "**Next:** an owner of each group of files, in the other comment, approves (Files changed, Review changes, Approve); then it can be merged.";
}

/** Blocks before a large change's table leave room for it. */
function joinBounded(blocks: readonly string[], review: Review): string {
	const rows = layerRows(review);
	const isLarge = rows.length > maxDetailed;
	const layers = rows.map(({ layer }) => layer).filter(({ verb }) => verb !== "wrong");
	const table = isLarge ? layerTable(rows) : "";
	let text = "";
	const add = (block: string, reserved = 0): boolean => {
		if (text.length + block.length > maxCommentLength - closingLength - reserved) return false;
		text += `${block}\n\n`;
		return true;
	};
	const missing = blocks.filter((block) => !add(block, table.length + 2)).length;
	if (isLarge) add(table);
	const detailed = isLarge ? layers.slice(0, maxDetailed) : layers;
	const shown = detailed.filter((layer) => add(layerBlock(layer))).length;
	const unshown = layers.length - shown;
	const closing = [
		missing > 0 && "Some of the lists above had no room.",
		unshown > 0 && `The fragments of ${unshown} more layers are not shown here: there is no room.`,
	];
	return `${text}${closing.filter(Boolean).join(" ")}`.trimEnd().concat("\n");
}

function layerTable(rows: ReturnType<typeof layerRows>): string {
	const items = rows.map(({ smallkey, verb, state, name }) => {
		const shown = name === "" ? "" : code(name.slice(0, maxNameLength));
		return `| ${code(smallkey)} | ${verb} | ${state} | ${shown} |`;
	});
	const lines = linesWithin(items, maxTableLength, (hidden) => [`| and ${hidden} more | | | |`]);
	return ["#### All layers", "", "| layer | change | look at | name |", "|---|---|---|---|", ...lines].join(
		"\n",
	);
}

function verdict({ obstacle, problems, services, layers }: Review): string {
	const wrong = [obstacle ?? [], problems, services.wrong].flat().length;
	if (wrong > 0) return `${counted(wrong, "thing")} to correct in this change`;
	return layers.length === 0 ? "No layer changes" : "The layers of this change are in order";
}

function summary({ layers }: Review): string {
	const parts = (["added", "changed", "removed", "wrong"] as const).flatMap((verb) => {
		const number = layers.filter((layer) => layer.verb === verb).length;
		return number > 0 ? `${number} ${verb}` : [];
	});
	return parts.length > 0 ? `${counted(layers.length, "layer")}: ${parts.join(", ")}.` : "";
}

function titled(title: string, items: string[]): string[] {
	if (items.length === 0) return [];
	const shown = linesWithin(items, maxListLength, (hidden) => [`- and ${hidden} more`]);
	return [[`#### ${title}`, "", ...shown].join("\n")];
}

function layerBlock(layer: LayerChange): string {
	const { smallkey, verb, fragments } = layer;
	const title = `<details><summary>${code(smallkey)} ${verb}</summary>`;
	const parts = [layerLinks(layer), ...fragments().map(fragmentBlock)].filter(Boolean);
	return [title, ...parts, "</details>"].join("\n\n");
}

function layerLinks(layer: LayerChange): string {
	const draft = layer.draft === null ? [] : [`[on the map, as a draft](${layer.draft})`];
	const addresses = servicesOf(layer).map(
		({ lang, address }) => `[its service, ${lang}](${safeAddress(address)})`,
	);
	return [...draft, ...addresses].join(" · ");
}

function fragmentBlock({ lang, lines, hidden }: FragmentChange): string {
	if (lines.length === 0) return `\`${lang}\`: viewers read the same as before.`;
	const more = hidden > 0 ? ` The first ${lines.length} of ${lines.length + hidden} lines:` : "";
	return `\`${lang}\`: what viewers will read.${more}\n\n${fenced("diff", lines)}`;
}

/** Null: files are named without a link. */
type Links = ReturnType<typeof linksInto> | null;

/**
 * @param web `https://github.com`
 * @param head id of the reviewed commit; GitHub shows a fork's commit in the base's repository too
 */
export function linksInto(web: string, repository: string, head: string) {
	return (path: string, line: number) =>
		`${web}/${repository}/blob/${head}/${path.split("/").map(escaped).join("/")}#L${line}`;
}

/** Percent-encodes a part of an address, including all characters that Markdown could interpret. */
function escaped(text: string): string {
	return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, (character) => {
		return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	});
}

/** @param text untrusted @param address trusted */
export function linked(text: string, address: string | null | undefined): string {
	return address == null ? code(text) : `[${code(text)}](${address})`;
}

/** Percent-encodes the characters that Markdown could interpret. @param address of a valid registration: http or https */
export function safeAddress(address: string): string {
	return address.replace(/[^A-Za-z0-9./:?#=&%+,;_-]/g, escaped);
}
