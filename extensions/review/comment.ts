import { langs } from "../../registry/smallkey.ts";
import { code, counted, groupBy, visible } from "../../registry/untrusted.ts";
import { type FragmentChange, targetsText } from "./fragment-changes.ts";
import { countErrors, type LayerRow, maxDetailed, type Review } from "./review.ts";

/** A later run finds the comment by this first line, which GitHub does not show. */
export const marker = "<!-- fragment-publisher: review -->";

/** GitHub accepts 65,536 characters. */
export const maxCommentLength = 65_000;

/** All lists and the table fit into one comment. */
const maxListLength = 7_000;
const maxTableLength = 20_000;
const maxNameLength = 40;

const closingLength = 200;

type Links = ReturnType<typeof linksInto>;

/** Markdown. The last line counts the layers for which there is no room. */
export function renderComment(review: Review, links?: Links): string {
	const { layers } = review;
	const blocks = blocksOf(review, links).filter(Boolean);
	if (layers.length > maxDetailed) blocks.push(renderTable(layers));
	let text = blocks.join("\n\n");
	const detailed = layers.slice(0, maxDetailed).filter(({ verb }) => verb !== "wrong");
	const shown = detailed.filter((layer) => {
		const block = `\n\n${renderLayer(layer)}`;
		const hasRoom = text.length + block.length <= maxCommentLength - closingLength;
		if (hasRoom) text += block;
		return hasRoom;
	});
	const hidden = detailed.length - shown.length;
	const closing =
		hidden > 0 ? `\n\nThe fragments of ${hidden} more layers are not shown here: there is no room.` : "";
	return `${text}${closing}\n`;
}

export interface Report {
	/** `cancelled`: there was no review. */
	conclusion: "success" | "failure" | "cancelled";
	comment: string;
}

function blocksOf(review: Review, links?: Links): string[] {
	const { obstacle, remarks, unasked, outside, layers } = review;
	const lists = groupBy(remarks, ({ title }) => title);
	// The draft page shows the problems of a wrong layer, too.
	const drafts = layers.filter(({ verb, draft }) => verb === "wrong" && draft !== null);
	return [
		`${marker}\n### ${verdictOf(review)}`,
		obstacle === null ? "" : `It cannot be merged: ${obstacle}.`,
		summaryOf(layers),
		`**Next:** ${nextStep(review)}`,
		...Array.from(lists, ([title, located]) =>
			renderList(title, located, ({ file, line, text }) => {
				return `${linkTo(file, links?.(file, line))} line ${line}: ${code(text)}`;
			}),
		),
		renderList("As drafts", drafts, ({ smallkey, draft }) => linkTo(smallkey, draft)),
		unasked > 0
			? `The services of ${counted(unasked, "layer")} were not asked: there are too many at once.`
			: "",
		renderList("Files outside the layers, for the operators to look at", outside, code),
	];
}

function verdictOf(review: Review) {
	const errors = countErrors(review);
	if (errors > 0) return `${counted(errors, "thing")} to correct in this change`;
	return review.layers.length === 0 ? "No layer changes" : "The layers of this change are in order";
}

function summaryOf(layers: readonly LayerRow[]) {
	const parts = (["added", "changed", "removed", "wrong"] as const).flatMap((verb) => {
		const number = layers.filter((layer) => layer.verb === verb).length;
		return number > 0 ? `${number} ${verb}` : [];
	});
	return parts.length > 0 ? `${counted(layers.length, "layer")}: ${parts.join(", ")}.` : "";
}

function nextStep(review: Review) {
	if (countErrors(review) > 0) return "correct what is listed here on the same branch; this comment follows.";
	if (!review.approvals) return "the operators put `layers/owners.json` in order.";
	if (review.approvals.length === 0) return "it can be merged.";
	return "an owner of each group of files, in the check owners, approves (Files changed, Review changes, Approve); then it can be merged.";
}

function renderList<Item>(title: string, items: readonly Item[], lineOf: (item: Item) => string): string {
	if (items.length === 0) return "";
	const lines = items.map((item) => `- ${lineOf(item)}`);
	const shown = linesWithin(lines, maxListLength, (hidden) => `- and ${hidden} more`);
	return [`#### ${title}`, "", ...shown].join("\n");
}

function renderTable(layers: readonly LayerRow[]) {
	const rows = layers.map(({ smallkey, verb, state, name }) => {
		const shown = name === "" ? "" : code(name.slice(0, maxNameLength));
		return `| ${code(smallkey)} | ${verb} | ${state} | ${shown} |`;
	});
	const lines = linesWithin(rows, maxTableLength, (hidden) => `| and ${hidden} more | | | |`);
	const head = ["#### All layers", "", "| layer | change | look at | name |", "|---|---|---|---|"];
	return [...head, ...lines].join("\n");
}

function renderLayer({ smallkey, verb, draft, fragments }: LayerRow) {
	const link = draft === null ? "" : `[on the map, as a draft](${draft})`;
	const title = `<details><summary>${code(smallkey)} ${verb}</summary>`;
	const changes = langs.flatMap((lang) => {
		const blocks = fragments.filter((change) => change.lang === lang).map(renderChange);
		return blocks.length > 0 ? blocks : [`\`${lang}\`: viewers read the same as before.`];
	});
	return [title, link, ...changes, "</details>"].filter(Boolean).join("\n\n");
}

function renderChange(change: FragmentChange) {
	const { lang, lines, hidden } = change;
	const more = hidden > 0 ? ` The first ${lines.length} of ${lines.length + hidden} lines:` : "";
	return `\`${lang}\`: what viewers will read (${targetsText(change)}).${more}\n\n${renderFence("diff", lines)}`;
}

/** @param web `https://github.com` @param head the repository shows commits of forks, too */
export function linksInto(web: string, repository: string, head: string) {
	return (path: string, line: number) =>
		`${web}/${repository}/blob/${head}/${path.split("/").map(escapeSegment).join("/")}#L${line}`;
}

/** Also encodes all characters that Markdown could interpret. */
function escapeSegment(text: string) {
	return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, (character) => {
		return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	});
}

/** @param text untrusted @param address trusted */
function linkTo(text: string, address?: string | null) {
	return address == null ? code(text) : `[${code(text)}](${address})`;
}

/** No line can end a fence that is longer than all backticks in it (CommonMark, 4.5). */
export function renderFence(lang: string, lines: readonly string[]): string {
	const shown = lines.map(visible);
	let fence = "```";
	while (shown.some((line) => line.includes(fence))) fence += "`";
	return [fence + lang, ...shown, fence].join("\n");
}

/** @param closing the line for those without room */
function linesWithin(lines: readonly string[], maxLength: number, closing: (hidden: number) => string) {
	let length = 0;
	const shown = lines.filter((line) => {
		length += line.length + 1;
		return length <= maxLength;
	});
	const hidden = lines.length - shown.length;
	return hidden > 0 ? [...shown, closing(hidden)] : shown;
}
