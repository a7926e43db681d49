import { maxAddressLength } from "../../registry/addresses.ts";
import { nameOf } from "../../registry/owners.ts";
import { code, counted, fenced, firstOf, linesWithin } from "../../registry/untrusted-text.ts";
import type { FragmentChange } from "./fragments.ts";
import type { Located } from "./layer-changes.ts";
import { isWrong, type LayerChange, type Review, servicesOf } from "./review.ts";
import { type LayerRow, layerRows, maxDetailed } from "./table.ts";

/** First line of the review's comment. A later run finds the comment by it; GitHub does not show it. */
export const marker = "<!-- fragment-publisher: review -->";

/** Characters of a comment: GitHub accepts 65,536. */
export const maxCommentLength = 65_000;

/** Characters of one list, so that all lists fit into a comment. */
const maxListLength = 10_000;

/** Characters of the table of a large change, in which 300 layers have room, and of a name in it. */
const maxTableLength = 45_000;
const maxNameLength = 40;

/** Characters reserved for the closing line. */
const closingLength = 200;

/** Characters shown of one line of a difference. */
const maxLineLength = 300;

/**
 * Renders a review as Markdown: the marker, then independent blocks. Blocks that do not fit are left out as a whole and
 * counted in the last line, so that a shortened comment is well formed too.
 */
export function renderComment(review: Review, links: Links = noLinks): string {
	// The draft page shows the problems of a wrong layer, too.
	const wrong = review.layers.filter(({ verb, draft }) => verb === "wrong" && draft !== null);
	const drafts = wrong.map(({ smallkey, draft }) => `- ${linked(smallkey, draft)}`);
	const outside = review.outside.map((path) => `- ${code(path)}`);
	const { unasked } = review.services;
	const rows = layerRows(review);
	const remark = ({ file, line, text }: Located) =>
		`- ${linked(file, links.file(file, line))} line ${line}: ${code(text)}`;
	const blocks = [
		`${marker}\n### ${verdict(review)}`,
		...(review.obstacle === null ? [] : [`It cannot be merged: ${review.obstacle}.`]),
		summary(review),
		nextStep(review),
		...titled("To correct", review.problems.map(remark)),
		...titled("As drafts", drafts),
		...titled("The services say that this change is wrong", review.services.wrong.map(remark)),
		...titled("Accepted, but probably not meant", review.warnings.map(remark)),
		...titled("Their server is down or odd. This blocks nothing.", review.services.down.map(remark)),
		...(unasked.length > 0
			? [`The services of ${counted(unasked.length, "layer")} were not asked: there are too many at once.`]
			: []),
		...approvalBlocks(review, links),
		...titled("Files outside the layers, for the operators to look at", outside),
	];
	const layers = rows.map(({ layer }) => layer).filter(({ verb }) => verb !== "wrong");
	return joinBounded(
		blocks,
		layerTable(rows),
		rows.length > maxDetailed ? layers.slice(0, maxDetailed) : layers,
		layers.length,
	);
}

function nextStep(review: Review): string {
	if (isWrong(review))
		return "**Next:** correct what is listed here on the same branch; this comment follows.";
	if (!review.approvals) return "**Next:** the operators put `layers/owners.json` in order.";
	if (review.approvals.length === 0) return "**Next:** it can be merged.";
	return "**Next:** an owner of each group below approves (Files changed, Review changes, Approve); then it can be merged.";
}

/** All layers of a large change, so that its comment has a line for each. */
function layerTable(rows: readonly LayerRow[]): string {
	if (rows.length <= maxDetailed) return "";
	const items = rows.map(({ smallkey, verb, state, name }) => {
		const shown = name === "" ? "" : code(name.slice(0, maxNameLength));
		return `| ${code(smallkey)} | ${verb} | ${state} | ${shown} |`;
	});
	const lines = linesWithin(items, maxTableLength, (hidden) => [`| and ${hidden} more | | | |`]);
	return ["#### All layers", "", "| layer | change | look at | name |", "|---|---|---|---|", ...lines].join(
		"\n",
	);
}

/**
 * @param table has its room before the blocks, and follows them
 * @param all how many layers there are, with those that are not among `layers`
 */
function joinBounded(blocks: string[], table: string, layers: LayerChange[], all: number): string {
	let text = "";
	const add = (block: string, reserved = 0): boolean => {
		if (text.length + block.length > maxCommentLength - closingLength - reserved) return false;
		text += `${block}\n\n`;
		return true;
	};
	const missing = blocks.filter((block) => !add(block, table.length + 2)).length;
	if (table !== "") add(table);
	const shown = layers.filter((layer) => layer.fragments && add(layerBlock(layer))).length;
	const unshown = all - shown;
	const closing = [
		missing > 0 && "Some of the lists above had no room.",
		unshown > 0 && `The fragments of ${unshown} more layers are not shown here: there is no room.`,
	];
	return `${text}${closing.filter(Boolean).join(" ")}`.trimEnd().concat("\n");
}

function verdict(review: Review): string {
	const wrong = [review.obstacle ?? [], review.problems, review.services.wrong].flat().length;
	if (wrong > 0) return `${counted(wrong, "thing")} to correct in this change`;
	if (review.layers.length === 0) return "No layer changes";
	return "The layers of this change are in order";
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

function approvalBlocks({ approvals }: Review, links: Links): string[] {
	const unusable = "The branch below has no usable `layers/owners.json` that says it.";
	const items = approvals?.map(({ owners, paths }) => {
		const names = owners.map((owner) => linked(nameOf(owner), links.owner(nameOf(owner))));
		return `- ${names.join(" or ")}, for ${firstOf(paths.map(code), 3, ", ")}`;
	});
	return titled("Who has to approve", items ?? [unusable]);
}

function layerBlock(layer: LayerChange): string {
	const { smallkey, verb, fragments } = layer;
	const title = `<details><summary>${code(smallkey)} ${verb}</summary>`;
	const parts = [layerLinks(layer), ...(fragments ?? []).map(fragmentBlock)].filter(Boolean);
	return [title, ...parts, "</details>"].join("\n\n");
}

/** Links of a layer: its draft on the map, and its services. */
function layerLinks(layer: LayerChange): string {
	const draft = layer.draft === null ? [] : [`[on the map, as a draft](${layer.draft})`];
	const addresses = servicesOf(layer).flatMap(({ lang, address }) => {
		const safe = safeAddress(address);
		return safe === null ? [] : [`[its service, ${lang}](${safe})`];
	});
	return [...draft, ...addresses].join(" · ");
}

function fragmentBlock({ lang, lines, hidden }: FragmentChange): string {
	if (lines.length === 0) return `\`${lang}\`: viewers read the same as before.`;
	const cut = (line: string) => (line.length > maxLineLength ? `${line.slice(0, maxLineLength)}…` : line);
	const more = hidden > 0 ? ` The first ${lines.length} of ${lines.length + hidden} lines:` : "";
	return `\`${lang}\`: what viewers will read.${more}\n\n${fenced("diff", lines.map(cut))}`;
}

export interface Links {
	/** Address of a line of a file at the head; null if files are named without a link. */
	file: (path: string, line: number) => string | null;
	/** Address of an owner's page, such as of `@organisation/team`. */
	owner: (name: string) => string | null;
}

export const noLinks: Links = { file: () => null, owner: () => null };

/**
 * Links into a repository of GitHub.
 * @param web `https://github.com`
 * @param repository `owner/name`
 * @param head id of the reviewed commit; GitHub shows a fork's commit in the base's repository too
 */
export function linksInto(web: string, repository: string, head: string): Links {
	return {
		file: (path, line) =>
			`${web}/${repository}/blob/${head}/${path.split("/").map(escaped).join("/")}#L${line}`,
		owner: (name) => {
			const [, account = "", team] = /^@([^/]+)(?:\/(.+))?$/.exec(name) ?? [];
			if (account === "") return null;
			return team ? `${web}/orgs/${escaped(account)}/teams/${escaped(team)}` : `${web}/${escaped(account)}`;
		},
	};
}

/** Percent-encodes a part of an address, including all characters that Markdown could interpret. */
function escaped(text: string): string {
	return encodeURIComponent(text.toWellFormed()).replace(/[!'()*~]/g, (character) => {
		return `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
	});
}

/** Renders untrusted text as code, with a link if there is a (trusted) address. */
export function linked(text: string, address: string | null): string {
	return address === null ? code(text) : `[${code(text)}](${address})`;
}

/**
 * The address of a service for use in Markdown: characters that Markdown could interpret are percent-encoded.
 * @returns null if it is not http or https, has credentials, or is too long
 */
export function safeAddress(address: string): string | null {
	// The length is checked first: a URL parser needs much time for a long host.
	if (address.length > maxAddressLength || !/^https?:\/\//i.test(address) || !URL.canParse(address))
		return null;
	const { href, username, password } = new URL(address);
	if (username !== "" || password !== "" || href.length > maxAddressLength) return null;
	return href.replace(/[^A-Za-z0-9./:?#=&%+,;_-]/g, escaped);
}
