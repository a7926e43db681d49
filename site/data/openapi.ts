import { readdirSync, readFileSync } from "node:fs";
import { errors, layerStatus, missing, receipt } from "../../registry/schemas/answers.ts";
import { owners } from "../../registry/schemas/definitions.ts";
import { description } from "../../registry/schemas/description.ts";
import { registration, registration1, registration2 } from "../../registry/schemas/registration.ts";
import type { Target, TargetName } from "../../registry/targets/facts.ts";
import { targets } from "../../registry/targets/table.ts";
import { type TextCode, texts } from "../../registry/texts.ts";
import { readVersion } from "../../store/files/version.ts";
import { contentsHtml, frameHtml } from "../static/frame.ts";
import { html, type PageSettings, type Part } from "../static/html.ts";
import { type StaticText, textsIn } from "../text/static.ts";
import { catalogueChunk } from "./entry.ts";

const folder = new URL("../../registry/schemas/", import.meta.url);

function readJson<T>(name: string): T {
	return JSON.parse(readFileSync(new URL(name, folder), "utf8"));
}

/**
 * The JSON Schemas and the OpenAPI document, by their names in the folder `schemas`: of a schema its `$id`.
 * @param url of the server, before the paths; may be relative
 */
export function schemaFiles(served: readonly TargetName[], url: string): Map<string, string> {
	const names = readdirSync(folder).filter((name) => name.endsWith(".schema.json"));
	const schemas = [
		...[registration, registration1, registration2, description, owners],
		...[catalogueChunk, receipt, layerStatus, errors, missing],
		...names.sort().map((name) => readJson<{ $id: string }>(name)),
	];
	const files = new Map<string, object>(schemas.map((schema) => [schema.$id, schema]));
	files.set("openapi.json", openApiDocument(served, url));
	return new Map(Array.from(files, ([name, value]) => [name, `${JSON.stringify(value, withText, 2)}\n`]));
}

/** Adds `errorMessage`, which editors show, to each rule of a schema that has a code. */
function withText(_name: string, value: unknown): unknown {
	const { code } = (value ?? {}) as { code?: unknown };
	if (typeof code !== "string" || !(code in texts.en)) return value;
	return { ...(value as object), errorMessage: texts.en[code as TextCode].replace(/, not \{0\}$/, "") };
}

/** OpenAPI 3.1.1: the paths of the served targets, and those of `schemas/openapi.json`. */
export function openApiDocument(served: readonly TargetName[], url: string): object {
	const document = readJson<{ info: object; paths: object }>("openapi.json");
	const reads = targets.filter(({ name }) => served.includes(name)).flatMap(readPaths);
	return {
		...document,
		info: { ...document.info, version: readVersion() },
		servers: [{ url }],
		paths: { ...Object.fromEntries(reads), ...document.paths },
	};
}

function readPaths(target: Target): [string, object][] {
	const { name, doc, docs } = target;
	const id = `${name[0]?.toUpperCase()}${name.slice(1).replace(".", "")}`;
	const fragment = { $ref: `fragment-${name}.schema.json` };
	const elements = "One element for each key, in the order of the keys.";
	const several = {
		operationId: `readLayers${id}`,
		summary: `Several layers at ${name}`,
		...readAnswers("smallkeys", elements, listSchema(target, fragment), {
			...(doc === docs && notFound),
			414: { description: "More keys, or a larger answer, than is served. No body." },
		}),
	};
	const layer = {
		operationId: `readLayer${id}`,
		summary: `One layer at ${name}`,
		...readAnswers("smallkey", "The layer.", fragment, notFound),
	};
	const list: [string, object] = [`/${docs}/{lang}/{smallkeys}`, { get: several }];
	return doc === docs ? [list] : [[`/${doc}/{lang}/{smallkey}`, { get: layer }], list];
}

const notFound = { 404: { description: "Not found. No body." } };

/** `refused`: the answers for what is not served. */
function readAnswers(key: string, description: string, schema: object, refused: object): object {
	const parameters = ["lang", key, "callback"].map((name) => ({ $ref: `#/components/parameters/${name}` }));
	const content = {
		"application/json": { schema },
		"application/javascript": {
			schema: { description: "The same as a function's argument.", type: "string" },
		},
	};
	const responses = {
		200: { description, content },
		304: { description: "As If-None-Match says, it has not changed. No body." },
		400: {
			description: "The language is not en or fr, or the callback is not a name of a function. No body.",
		},
		...refused,
	};
	return { tags: ["read"], security: [], parameters, responses };
}

function listSchema(target: Target, fragment: object): object {
	if (target.envelope) return fragment;
	const absent = target.absent("", 2);
	if (absent === null) return { oneOf: [fragment, { type: "array", items: fragment }] };
	const unknown = absent === "null" ? { type: "null" } : { $ref: missing.$id };
	return { type: "array", items: { oneOf: [fragment, unknown] } };
}

const methods = ["get", "put", "delete"] as const;

/** What the page shows of an operation, parameter or response, or of a reference to one. */
interface Component {
	$ref?: string;
	name?: string;
	in?: string;
	summary?: string;
	description?: string;
	security?: object[];
	parameters?: Component[];
	responses?: Record<string, Component>;
	schema?: { pattern?: string; enum?: string[] };
	content?: Record<string, { schema?: { $ref?: string } }>;
}

interface ApiDocument {
	paths: Record<string, Partial<Record<(typeof methods)[number], Component>> & Pick<Component, "parameters">>;
	components: Record<string, Record<string, Component>>;
}

/** `schemas/index.html`: the HTTP interface. Its descriptions are in English only, as in the document. */
export function apiHtml(pages: PageSettings, files: ReadonlyMap<string, string>): string {
	const { paths, components } = JSON.parse(files.get("openapi.json") ?? "") as ApiDocument;
	const resolve = (component: Component): Component => {
		const [, , kind = "", name = ""] = component.$ref?.split("/") ?? [];
		return component.$ref === undefined ? component : (components[kind]?.[name] as Component);
	};
	const parts: { id: string; text: Part }[] = [];
	const operations = Object.entries(paths).flatMap(([path, { parameters: shared = [], ...item }]) =>
		methods.flatMap((method) => {
			const operation = item[method];
			if (!operation) return [];
			const { summary = "", description = "", security = [], parameters = [], responses = {} } = operation;
			const texts = [summary, description].filter(Boolean).map((text) => text.replace(/\.?$/, "."));
			const declared = [...shared, ...parameters].map(resolve);
			const answers = Object.entries(responses);
			const name = `${method.toUpperCase()} ${path}`;
			const id = (name.toLowerCase().match(/[a-z0-9.]+/g) ?? []).join("-");
			parts.push({ id, text: html`<code>${name}</code>` });
			return html`<section>
<h2 id="${id}"><code>${name}</code></h2>
<p>${texts.join(" ")} ${security.length > 0 && both("signed")}</p>
${listOf(
	"parameters",
	declared.map((parameter) => [parameter.name, parameterText(parameter)]),
)}
${listOf(
	"answers",
	answers.map(([status, answer]) => [status, answerText(resolve(answer))]),
)}</section>
`;
		}),
	);
	const names = [...files.keys()].map((name) => html`<li><a href="${name}">${name}</a></li>\n`);
	return frameHtml(pages, {
		lang: "en",
		root: "../",
		title: textsIn.en.t("api-title"),
		other: null,
		className: "api",
		content: html`<h1>${both("api-title")}</h1>
<p>${both("api-intro")} <a href="openapi.json">openapi.json</a></p>
${contentsHtml([...parts, { id: "schemas", text: both("schemas") }], "en")}
${operations}
<h2 id="schemas">${both("schemas")}</h2>
<ul class="columns">
${names}</ul>`,
	});
}

function listOf(title: StaticText, items: readonly Part[][]): Part {
	const rows = items.map(([name, content]) => html`<dt><code>${name}</code></dt><dd>${content}</dd>\n`);
	return rows.length > 0 && html`<h3>${both(title)}</h3>\n<dl>\n${rows}</dl>\n`;
}

function parameterText({ description = "", in: place, schema }: Component): Part {
	const values = schema?.enum?.join(" | ") ?? schema?.pattern;
	return html`${`${description} (${place})`.trim()} ${values && html`<code>${values}</code>`}`;
}

function answerText({ description = "", content = {} }: Component): Part {
	const name = Object.values(content)[0]?.schema?.$ref?.split("/").at(-1);
	return html`${description} ${name && html`<a href="${name}">${name}</a>`}`;
}

function both(code: StaticText): Part {
	const [en, fr] = [textsIn.en.t(code), textsIn.fr.t(code)];
	return en === fr ? en : html`${en} <span lang="fr">· ${fr}</span>`;
}
