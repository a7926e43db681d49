import { causeOf } from "../../../registry/health.ts";
import type { ServiceType } from "../../../registry/registration.ts";
import { maxTitle } from "../../../registry/schemas/description.ts";
import { type Document, documentAddress, layerProblem, readDocument } from "../../../site/service/arcgis.ts";
import { listOf, objectOf, parseAnswer, textOf } from "../../../site/service/decode.ts";
import { type Ask, Trouble } from "../ask.ts";
import type { DescriptionResult } from "../description.ts";
import { checkEntries, type Service } from "../service.ts";
import { leavesOf, objectsIn, serviceProblem, serviceTitle } from "./service.ts";

/** @throws {Trouble} if there is no document */
export async function askDocument(
	address: string,
	ask: Ask,
	path = "",
	query: Record<string, string> = {},
): Promise<Document> {
	const answer = await ask(documentAddress(address, path, query));
	if (!answer.ok) throw answer;
	const { document, error } = readDocument(answer.bytes);
	if (document) return document;
	if (error) throw new Trouble(error.state, error.what, error);
	throw notArcgis();
}

function notArcgis(status: number | null = null): Trouble {
	return new Trouble("wrong", causeOf("unlike", "ArcGIS"), { status, isTemporary: status === null });
}

/** @throws {Trouble} if viewers do not draw it as this type */
export async function askService(address: string, type: ServiceType, ask: Ask): Promise<Document> {
	const document = await askDocument(address, ask);
	const problem = type === "esriFeature" ? layerProblem(document) : serviceProblem(document, type);
	if (problem) throw new Trouble("wrong", problem);
	return document;
}

/** @throws {Trouble} */
export function askLayer(address: string, ask: Ask): Promise<Document> {
	return askService(address, "esriFeature", ask);
}

/** Without entries if only some of its layers are registered. @throws {Trouble} */
export async function describeArcgisService(
	{ address, type, isWhole }: Service,
	ask: Ask,
): Promise<DescriptionResult> {
	const document = await askService(address, type, ask);
	const entries = isWhole ? leavesOf(document) : [];
	if (isWhole) checkEntries(entries);
	const title = serviceTitle(document, address).slice(0, maxTitle).toWellFormed();
	return { description: { service_url: address, entries, ...(title && { title }) }, missing: null };
}

/** Services as `Folder/Name/MapServer`. @throws {Trouble} if there is no list */
export async function askList(catalogue: string, folder: string, ask: Ask) {
	const answer = await ask(`${[catalogue, encodeURI(folder)].filter(Boolean).join("/")}?f=json`);
	if (!answer.ok) throw answer;
	const { services, folders, error } = objectOf(parseAnswer(answer.bytes));
	if (!Array.isArray(services)) throw notArcgis(Number(objectOf(error).code) || null);
	const paths = objectsIn(services).map(({ name, type }) => `${textOf(name)}/${textOf(type)}`);
	return { paths, folders: listOf(folders).map(textOf).filter(Boolean) };
}

/** The layers of the service that has the layer. @throws {Trouble} if there is no list */
export async function askLayers(address: string, ask: Ask): Promise<Document[]> {
	const { layers } = await askDocument(address, ask, "/..");
	if (!Array.isArray(layers)) throw notArcgis();
	return objectsIn(layers);
}
