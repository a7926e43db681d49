import { causeOf } from "../../../registry/health.ts";
import type { ServiceType } from "../../../registry/registration.ts";
import { maxTitle } from "../../../registry/schemas/description.ts";
import {
	addressBelow,
	type Document,
	documentAddress,
	layerProblem,
	leavesOf,
	readDocument,
	serviceProblem,
	serviceTitle,
} from "../../../site/service/arcgis.ts";
import { isObject, listOf, objectOf, parseAnswer, textOf } from "../../../site/service/decode.ts";
import { type Ask, Trouble } from "../ask.ts";
import { checkEntries, type Described, orTrouble } from "../finding.ts";

/**
 * @param what is registered there, for the text of a refusal
 * @throws {Trouble} if there is no document
 */
export async function askDocument(
	address: string,
	what: "layer" | "service",
	ask: Ask,
	path = "",
	query: Record<string, string> = {},
): Promise<Document> {
	const answer = await ask(documentAddress(address, path, query));
	if (!answer.ok) throw answer;
	const { document, error } = readDocument(answer.bytes);
	if (document) return document;
	if (error) throw new Trouble(error.state, error.what, error);
	throw new Trouble("wrong", causeOf(`not-arcgis-${what}`), { isTemporary: true });
}

/** @throws {Trouble} */
export async function askLayer(address: string, ask: Ask): Promise<Document> {
	const document = await askDocument(address, "layer", ask);
	const problem = layerProblem(document);
	if (problem) throw new Trouble("wrong", problem);
	return document;
}

/** @throws {Trouble} if viewers do not draw it as this type */
export async function askService(address: string, type: ServiceType, ask: Ask): Promise<Document> {
	const document = await askDocument(address, "service", ask);
	const problem = serviceProblem(document, type);
	if (problem) throw new Trouble("wrong", problem);
	return document;
}

/**
 * @param isWhole whether all of its layers are registered; else there are no entries
 * @throws {Trouble}
 */
export async function describeArcgisService(
	address: string,
	type: ServiceType,
	isWhole: boolean,
	ask: Ask,
): Promise<Described> {
	const document = await askService(address, type, ask);
	const entries = isWhole ? leavesOf(document) : [];
	if (isWhole) checkEntries(entries);
	const title = serviceTitle(document, address).slice(0, maxTitle).toWellFormed();
	return { description: { service_url: address, entries, ...(title && { title }) }, missing: null };
}

/** Services as `Folder/Name/MapServer`; a `Trouble` if there is no list. */
export async function askList(catalogue: string, folder: string, ask: Ask) {
	const answer = await ask(`${[catalogue, encodeURI(folder)].filter(Boolean).join("/")}?f=json`);
	if (!answer.ok) return answer;
	const { services, folders, error } = objectOf(parseAnswer(answer.bytes));
	if (!Array.isArray(services)) {
		const code = Number(objectOf(error).code) || null;
		return new Trouble("wrong", causeOf("no-list"), { status: code, isTemporary: code === null });
	}
	const paths = services.filter(isObject).map(({ name, type }) => `${textOf(name)}/${textOf(type)}`);
	return { paths, folders: listOf(folders).map(textOf).filter(Boolean) };
}

/** The layers of the service that has the layer; a `Trouble` if there is no list. */
export async function askLayers(address: string, ask: Ask) {
	const document = await orTrouble(askDocument(addressBelow(address, "/.."), "service", ask));
	if (document instanceof Trouble) return document;
	if (Array.isArray(document.layers)) return document.layers.filter(isObject);
	return new Trouble("wrong", causeOf("no-list"), { isTemporary: true });
}
