import type { LangNode } from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";
import { isObject, listOf, textOf } from "./answer.ts";
import { askDocument } from "./arcgis/answers.ts";
import { type Fault, type Finding, quote } from "./finding.ts";
import type { Ask } from "./net/ask.ts";
import type { ReadCapabilities } from "./wms/read-capabilities.ts";

/** The result of checking a node: its title, or null where the service gave none, and what is wrong. */
export interface CheckedNode {
	facts: { title: string } | null;
	findings: Finding[];
}

/** The title of a service and its layers by name or number, or why they are not known. */
type Contents = { title: string; layers: ReadonlySet<unknown> } | { kind: Fault; text: string };

/** Most missing layers that are listed. */
const maxMissing = 10;

/**
 * Checks a node of version 2.0 that is no feature layer: whether the service exists, and has the named layers. Never
 * throws.
 */
export async function checkNode(
	lang: Lang,
	node: LangNode,
	read: ReadCapabilities,
	ask: Ask,
): Promise<CheckedNode> {
	const { service_url: address } = node;
	const finding = (kind: Fault, member: string, text: string): Finding => ({
		kind,
		lang,
		pointer: `/${lang}/${member}`,
		text: `${address} ${text}`,
	});
	const named: readonly (string | number)[] = "scrape_only" in node ? (node.scrape_only ?? []) : [];
	const contents = await contentsOf(node, String(named[0] ?? ""), read, ask);
	if ("kind" in contents) {
		return { facts: null, findings: [finding(contents.kind, "service_url", contents.text)] };
	}
	const { title, layers } = contents;
	const missing = [...named.entries()].filter(([, name]) => !layers.has(name));
	const findings = missing.slice(0, maxMissing).map(([index, name]) => {
		const text = `has no layer ${quote(String(name))} among its ${layers.size}`;
		return finding("registration", `scrape_only/${index}`, text);
	});
	const more = missing.length - findings.length;
	if (more > 0)
		findings.push(finding("registration", "scrape_only", `does not have ${more} more of its layers`));
	return { facts: { title }, findings };
}

async function contentsOf(node: LangNode, name: string, read: ReadCapabilities, ask: Ask): Promise<Contents> {
	const { service_type: type, service_url: address } = node;
	if (type !== "ogcWms" && type !== "ogcWmts") return arcgisContents(address, ask);
	const outcome = await read(type === "ogcWms" ? "WMS" : "WMTS", address, name || null);
	if (!outcome.capabilities) return outcome;
	const { layers } = outcome.capabilities;
	return { title: layers.get(name)?.title ?? "", layers: new Set(layers.keys()) };
}

async function arcgisContents(address: string, ask: Ask): Promise<Contents> {
	const answer = await askDocument(address, "service", ask);
	if (!answer.document) return answer.trouble;
	const { mapName, name, layers, tables } = answer.document;
	const ids = [...listOf(layers), ...listOf(tables)].filter(isObject).map(({ id }) => id);
	return { title: textOf(mapName) || textOf(name), layers: new Set(ids) };
}
