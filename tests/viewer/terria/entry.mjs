// What the tests use of Terria; prepare.mjs bundles it with Terria's classes.
import { DOMParser } from "@xmldom/xmldom";
import i18next from "i18next";
// Feature layers use a stratum, `automaticTableStyles`, that only its imports declare.
import "terriajs/lib/Models/Catalog/CatalogItems/CsvCatalogItem";
import CatalogMemberFactory from "terriajs/lib/Models/Catalog/CatalogMemberFactory";
import TerriaReference from "terriajs/lib/Models/Catalog/CatalogReferences/TerriaReference";
import ArcGisFeatureServerCatalogItem from "terriajs/lib/Models/Catalog/Esri/ArcGisFeatureServerCatalogItem";
import ArcGisMapServerCatalogItem from "terriajs/lib/Models/Catalog/Esri/ArcGisMapServerCatalogItem";
import WebMapServiceCatalogItem from "terriajs/lib/Models/Catalog/Ows/WebMapServiceCatalogItem";
import CommonStrata from "terriajs/lib/Models/Definition/CommonStrata";
import upsertModelFromJson from "terriajs/lib/Models/Definition/upsertModelFromJson";
import Terria from "terriajs/lib/Models/Terria";

globalThis.DOMParser = DOMParser;
// Without texts a message is its key, such as `core.terriaError.networkRequestMessage`.
await i18next.init({ lng: "en", resources: {} });
const classes = [
	ArcGisFeatureServerCatalogItem,
	ArcGisMapServerCatalogItem,
	TerriaReference,
	WebMapServiceCatalogItem,
];
for (const one of classes) CatalogMemberFactory.register(one.type, one);

export async function readReference(reference) {
	const definition = CommonStrata.definition;
	const added = upsertModelFromJson(CatalogMemberFactory, new Terria(), "", definition, reference, {});
	const model = added.throwIfUndefined();
	(await model.loadReference()).throwIfError();
	const { target } = model;
	const { error } = await target.loadMapItems();
	return {
		type: target.type,
		name: target.name,
		hasIssues: target.isExperiencingIssues,
		error: error?.toError().message,
		items: target.mapItems.length,
		layers: target.mapItems[0]?.imageryProvider?.layers,
	};
}
