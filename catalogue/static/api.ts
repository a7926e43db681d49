import { english, type Texts } from "../../site/text/english.ts";
import { french } from "../../site/text/french.ts";
import { frameHtml } from "./frame.ts";
import { type Assets, html, type Part } from "./html.ts";

/** The parts of an OpenAPI document that the page shows (OpenAPI Specification 3.1). */
interface ApiDocument {
	paths: Record<string, Partial<Record<(typeof methods)[number], Operation>> & { parameters?: Component[] }>;
	components: Record<string, Record<string, Component>>;
}

const methods = ["get", "put", "delete"] as const;

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
	/** The component to which `#/components/<kind>/<name>` refers. */
	const resolve = (one: Component): Component => {
		const [, , kind = "", name = ""] = one.$ref?.split("/") ?? [];
		return one.$ref === undefined ? one : (components[kind]?.[name] as Component);
	};
	const operations = Object.entries(paths).flatMap(([path, { parameters: shared = [], ...item }]) =>
		methods.flatMap((method) => {
			const operation = item[method];
			if (!operation) return [];
			const { summary = "", description = "", security = [], parameters = [], responses } = operation;
			const texts = [summary, description].filter(Boolean);
			const given = [...shared, ...parameters].map(resolve);
			const answers = Object.entries(responses);
			return html`<section>
<h2><code>${method.toUpperCase()} ${path}</code></h2>
<p>${texts.map((text) => (text.endsWith(".") ? text : `${text}.`)).join(" ")} ${security.length > 0 && both("apiSigned")}</p>
${listOf(
	"apiParameters",
	given.map((one) => [one.name ?? "", parameterText(one)]),
)}${listOf(
	"apiAnswers",
	answers.map(([status, one]) => [status, answerText(resolve(one))]),
)}</section>
`;
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

/** A text in both languages, for a page that exists only once. */
function both(name: keyof Texts): Part {
	const [en, fr] = [english[name], french[name]] as [string, string];
	return en === fr ? en : html`${en} <span lang="fr">· ${fr}</span>`;
}
