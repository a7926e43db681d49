import type { Texts } from "../../site/text/english.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import { frameHtml } from "./frame.ts";
import { type Assets, escapeHtml } from "./html.ts";

const methods = ["get", "put", "delete"] as const;

/** As much of an OpenAPI document as the page shows (OpenAPI Specification 3.1). */
interface ApiDocument {
	paths: Record<string, Partial<Record<(typeof methods)[number], Operation>> & { parameters?: Part[] }>;
	components: Record<string, Record<string, Part>>;
}

interface Operation {
	summary?: string;
	description?: string;
	security?: object[];
	parameters?: Part[];
	responses: Record<string, Part>;
}

/** A parameter or an answer, or where it is. */
interface Part {
	$ref?: string;
	name?: string;
	in?: string;
	description?: string;
	schema?: { pattern?: string; enum?: string[] };
	content?: Record<string, { schema?: { $ref?: string } }>;
}

/**
 * `schemas/index.html`: the interface for programs, read from its own description. The descriptions are English, as the
 * document is.
 * @param document the content of `schemas/openapi.json`
 * @param names files in the folder `schemas`
 */
export function apiHtml(assets: Assets, document: object, names: readonly string[]): string {
	const { paths, components } = document as ApiDocument;
	const operations = Object.entries(paths).flatMap(([path, { parameters = [], ...item }]) =>
		methods.flatMap((method) => {
			const operation = item[method];
			const shared = operation && [...parameters, ...(operation.parameters ?? [])];
			return operation
				? operationHtml(`${method.toUpperCase()} ${path}`, { ...operation, parameters: shared }, components)
				: [];
		}),
	);
	const files = names.map((name) => `<li><a href="${escapeHtml(name)}">${escapeHtml(name)}</a></li>`);
	const content = [
		`<p>${both((texts) => texts.apiIntro)} <a href="openapi.json">openapi.json</a></p>`,
		...operations,
		`<h2>${both((texts) => texts.apiSchemas)}</h2>\n<ul class="columns">\n${files.join("\n")}\n</ul>`,
	];
	return frameHtml(assets, {
		lang: "en",
		root: "../",
		title: english.apiTitle,
		other: null,
		attributes: ' class="api"',
		content: `<h1>${both((texts) => texts.apiTitle)}</h1>\n${content.join("\n")}`,
	});
}

function operationHtml(
	name: string,
	{ summary = "", description = "", security = [], parameters = [], responses }: Operation,
	components: ApiDocument["components"],
): string {
	const given = parameters.map((one) => resolved(one, components));
	const answers = Object.entries(responses);
	const signed = security.length > 0 ? ` ${both((texts) => texts.apiSigned)}` : "";
	return `<section>
<h2><code>${escapeHtml(name)}</code></h2>
<p>${escapeHtml([summary, description].filter(Boolean).map(sentence).join(" "))}${signed}</p>
${listOf(
	both((texts) => texts.apiParameters),
	given.map((one) => [one.name ?? "", parameterText(one)]),
)}${listOf(
	both((texts) => texts.apiAnswers),
	answers.map(([status, one]) => [status, answerText(resolved(one, components))]),
)}</section>`;
}

/** A text with the full stop that it may lack. */
function sentence(text: string): string {
	return text.endsWith(".") ? text : `${text}.`;
}

function listOf(title: string, items: readonly (readonly [string, string])[]): string {
	if (items.length === 0) return "";
	const rows = items.map(([name, html]) => `<dt><code>${escapeHtml(name)}</code></dt><dd>${html}</dd>`);
	return `<h3>${title}</h3>\n<dl>\n${rows.join("\n")}\n</dl>\n`;
}

function parameterText({ description = "", in: place, schema }: Part): string {
	const values = schema?.enum?.join(" | ") ?? schema?.pattern ?? "";
	return [escapeHtml(`${description} (${place})`.trim()), values && `<code>${escapeHtml(values)}</code>`]
		.filter(Boolean)
		.join(" ");
}

function answerText({ description = "", content = {} }: Part): string {
	const name = Object.values(content)[0]?.schema?.$ref?.split("/").at(-1);
	const link = name && `<a href="${escapeHtml(name)}.schema.json">${escapeHtml(name)}</a>`;
	return [escapeHtml(description), link].filter(Boolean).join(" ");
}

function resolved(one: Part, components: ApiDocument["components"]): Part {
	if (one.$ref === undefined) return one;
	const [, , kind = "", name = ""] = one.$ref.split("/");
	const found = components[kind]?.[name];
	if (!found) throw new Error(`the document has no ${one.$ref}`);
	return found;
}

/** A text in both languages, where a page is in one only. */
function both(get: (texts: Texts) => string): string {
	const [en, fr] = [get(english), get(french)];
	if (en === fr) return escapeHtml(en);
	return `${escapeHtml(en)} <span lang="fr">· ${escapeHtml(fr)}</span>`;
}
