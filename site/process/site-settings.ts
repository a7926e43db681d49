import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { SaxesParser } from "saxes";
import type { Variables } from "../../api/configuration.ts";
import { trialDataDir } from "../../api/service/settings.ts";
import { fragmentSettings } from "../../publish/rendered.ts";
import type { PublicName } from "../../registry/sender.ts";
import type { Lang } from "../../registry/smallkey.ts";
import type { FragmentSettings } from "../../registry/targets/facts.ts";
import { ifThereSync } from "../../store/files/files.ts";

const maxFileBytes = 100_000;

export type SiteSettings = ReturnType<typeof readSite>;

/** A text is empty, and a pair null, if its variable is not set. */
export function readSite(variables: Variables) {
	const tiles = /^(?=.*\{x\})(?=.*\{y\})https:\/\/[^\s"<>]*\{z\}[^\s"<>]*$/;
	const page = {
		name: both(variables, "SITE_NAME", /^\S.{0,99}$/, "a name of at most 100 characters"),
		contact: variables.matching(
			"SITE_CONTACT",
			"",
			/^(?:[^\s@"<>/:?&]+@[^\s@"<>/:?&]+|https?:\/\/[^\s"<>]+)$/,
			"a mail address, or an http or https address",
		),
		terms: both(variables, "SITE_TERMS", /^https?:\/\/[^\s"<>]+$/, "an http or https address"),
		baseMap: variables.matching("BASE_MAP", "", tiles, "an https address of tiles with {z}, {y} and {x}"),
		baseMapAttribution: variables.text("BASE_MAP_ATTRIBUTION", ""),
		repository: variables.address("REPOSITORY_URL"),
		branch: variables.text("GITHUB_BRANCH", "main"),
	};
	const isStyle = (text: string) => text.includes("{");
	const isSignature = (text: string) => parseSignature(text) !== null;
	const look = {
		theme: file(variables, "SITE_THEME", isStyle, "a file of CSS"),
		signature: file(variables, "SITE_SIGNATURE", isSignature, "an SVG with a viewBox and a <title>"),
	};
	const pictures = join(variables.text("DATA_DIR", trialDataDir), "pictures");
	return { page, look, pictures: resolve(variables.text("PICTURES", pictures)) };
}

function both(
	variables: Variables,
	name: string,
	pattern: RegExp,
	rule: string,
): Record<Lang, string> | null {
	const en = variables.matching(`${name}_EN`, "", pattern, rule);
	const fr = variables.matching(`${name}_FR`, "", pattern, rule);
	const [given, missing] = en === "" ? ["FR", "EN"] : ["EN", "FR"];
	if ((en === "") !== (fr === ""))
		variables.problems.push(`${name}_${missing}: is needed with ${name}_${given}`);
	return en === "" || fr === "" ? null : { en, fr };
}

function file(variables: Variables, name: string, fits: (text: string) => boolean, rule: string): string {
	const path = variables.text(name, "");
	if (path === "") return "";
	const text = ifThereSync(path, () => readFileSync(path, "utf8"));
	if (text !== null && text.length <= maxFileBytes && fits(text)) return text;
	variables.problems.push(`${name}: must be the path of ${rule}, at most ${maxFileBytes} bytes, not ${path}`);
	return "";
}

/** Null without a `viewBox` and a `<title>`, which is the text alternative. */
export function parseSignature(svg: string) {
	let title = "";
	let viewBox = "";
	const path: string[] = [];
	const parser = new SaxesParser();
	parser.on("opentag", ({ name, attributes }) => {
		path.push(name);
		if (path.join() === "svg") viewBox = attributes.viewBox ?? "";
	});
	parser.on("text", (text) => {
		if (path.join() === "svg,title") title += text;
	});
	parser.on("closetag", () => path.pop());
	try {
		parser.write(svg).close();
	} catch {
		return null;
	}
	const [, , width = 0, height = 0] = viewBox
		.trim()
		.split(/[\s,]+/)
		.map(Number);
	title = title.replace(/\s+/g, " ").trim();
	return title !== "" && width > 0 && height > 0 ? { title, width, height } : null;
}

/** All that the content depends on, except the layers. It is JSON. */
export type CatalogueOptions = ReturnType<typeof catalogueOptions>;

interface CatalogueSource {
	/** Sender's id → public name. */
	senderNames: Readonly<Record<string, PublicName>>;
	/** A service accepts signed requests, and renders pages on request. */
	canSend: boolean;
}

export function catalogueOptions(
	configuration: FragmentSettings & SiteSettings & { publicUrl: string },
	{ senderNames, canSend }: CatalogueSource,
) {
	const { page, look, pictures, publicUrl } = configuration;
	const fragments = fragmentSettings(configuration);
	const { metadataUrl, catalogueUrl, mapWkid, targets } = fragments;
	return {
		fragments,
		/** Ends with a slash; empty if unknown. */
		publicUrl: publicUrl && `${publicUrl}/`,
		site: { ...page, targets, mapWkid, metadataUrl, catalogueUrl, canSend },
		senderNames,
		look,
		pictures,
	};
}

/** Without names that have an email address, or are a sender's id, which signs. */
export function senderNamesOf(senders: ReadonlyMap<string, { name: PublicName | null }>) {
	const names = [...senders].flatMap(([id, { name }]) => {
		if (name === null) return [];
		const texts = typeof name === "string" ? [name] : [name.en, name.fr];
		const isPublic = texts.every((text) => !text.includes("@") && !senders.has(text));
		return isPublic ? [[id, name] as const] : [];
	});
	return Object.fromEntries(names.sort(([a], [b]) => (a < b ? -1 : 1)));
}
