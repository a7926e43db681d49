import type { Texts } from "../../site/text/english.ts";
import { english } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import { frameHtml } from "./frame.ts";
import { type Assets, type Html, html, type Part } from "./html.ts";

const methods = ["get", "put", "delete"] as const;

/** The parts of an OpenAPI document that the page shows (OpenAPI Specification 3.1). */
interface ApiDocument {
	paths: Record<string, Partial<Record<(typeof methods)[number], Operation>> & { parameters?: Component[] }>;
	components: Record<string, Record<string, Component>>;
}

interface Operation {
	summary?: string;
	description?: string;
	security?: object[];
	parameters?: Component[];
	responses: Record<string, Component>;
}

/** A parameter or a response, or a reference to one. */
interface Component {
	$ref?: string;
	name?: string;
	in?: string;
	description?: string;
	schema?: { pattern?: string; enum?: string[] };
	content?: Record<string, { schema?: { $ref?: string } }>;
}

/**
 * Renders `schemas/index.html`: the HTTP interface, from its OpenAPI document. Its descriptions are in English only, as in
 * the document.
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
	const files = names.map((name) => html`<li><a href="${name}">${name}</a></li>\n`);
	return frameHtml(assets, {
		lang: "en",
		root: "../",
		title: english.apiTitle,
		other: null,
		attributes: html` class="api"`,
		content: html`<h1>${both("apiTitle")}</h1>
<p>${both("apiIntro")} <a href="openapi.json">openapi.json</a></p>
${operations}
<h2>${both("apiSchemas")}</h2>
<ul class="columns">
${files}</ul>`,
	});
}

function operationHtml(
	name: string,
	{ summary = "", description = "", security = [], parameters = [], responses }: Operation,
	components: ApiDocument["components"],
): Html {
	const given = parameters.map((one) => resolve(one, components));
	const answers = Object.entries(responses);
	return html`<section>
<h2><code>${name}</code></h2>
<p>${[summary, description].filter(Boolean).map(sentence).join(" ")} ${security.length > 0 && both("apiSigned")}</p>
${listOf(
	"apiParameters",
	given.map((one) => [one.name ?? "", parameterText(one)]),
)}${listOf(
	"apiAnswers",
	answers.map(([status, one]) => [status, answerText(resolve(one, components))]),
)}</section>
`;
}

/** A text with a full stop at its end. */
function sentence(text: string): string {
	return text.endsWith(".") ? text : `${text}.`;
}

function listOf(title: keyof Texts, items: readonly (readonly [name: string, content: Part])[]): Part {
	const rows = items.map(([name, content]) => html`<dt><code>${name}</code></dt><dd>${content}</dd>\n`);
	return rows.length > 0 && html`<h3>${both(title)}</h3>\n<dl>\n${rows}</dl>\n`;
}

function parameterText({ description = "", in: place, schema }: Component): Part {
	const values = schema?.enum?.join(" | ") ?? schema?.pattern;
	return html`${`${description} (${place})`.trim()} ${values && html`<code>${values}</code>`}`;
}

function answerText({ description = "", content = {} }: Component): Part {
	const name = Object.values(content)[0]?.schema?.$ref?.split("/").at(-1);
	return html`${description} ${name && html`<a href="${name}.schema.json">${name}</a>`}`;
}

function resolve(one: Component, components: ApiDocument["components"]): Component {
	if (one.$ref === undefined) return one;
	const [, , kind = "", name = ""] = one.$ref.split("/");
	const found = components[kind]?.[name];
	if (!found) throw new Error(`the document has no ${one.$ref}`);
	return found;
}

/** A text in both languages, for a page that exists only once. */
function both(name: keyof Texts): Part {
	const [en, fr] = [english[name], french[name]] as [string, string];
	return en === fr ? en : html`${en} <span lang="fr">· ${fr}</span>`;
}
