// From the WMS and ArcGIS resources of a CKAN catalogue to a folder for `npx fragment-publisher register`.
// node docs/recipes/ckan.mjs https://open.canada.ca/data 'organization:nrcan-rncan' my-layers nrcan-
// The interface: https://docs.ckan.org/en/2.11/api/ (package_search). Languages as in open.canada.ca's schema:
// https://github.com/open-data/ckanext-canada
import { writeLayers } from "./write.mjs";

const [catalogue, filter, folder, prefix = ""] = process.argv.slice(2);
const wms = /^\s*wms\s*$/i;
const arcgis = /^\s*(?:esri rest|(?:esri )?(?:map|feature) ?server|arcgis geoservices rest api)\s*$/i;

/** The title in a language, otherwise its machine translation, otherwise the only title. */
function titleIn(lang, { title, title_translated: titles }) {
	return titles?.[lang] || titles?.[lang === "en" ? "en-t-fr" : "fr-t-en"] || title;
}

function linksOf({ resources }) {
	const services = (resources ?? []).filter(({ format }) => wms.test(format) || arcgis.test(format));
	return services.map(({ id, format, language, url, wms_layer }) => ({
		smallkey: prefix + id,
		isWms: wms.test(format),
		langs: [language ?? []].flat(),
		url: () => url,
		// In the resources of GeoServer and data.gov.au.
		name: () => wms_layer,
	}));
}

for (let start = 0, count = 1; start < count; ) {
	const query = new URLSearchParams({ fq: filter, sort: "id asc", rows: 100, start });
	const answer = await fetch(`${catalogue}/api/3/action/package_search?${query}`);
	if (!answer.ok) throw new Error(`${catalogue}: answers ${answer.status}`);
	const { result } = await answer.json();
	for (const dataset of result.results) {
		const metadata = { catalogue_url: `${catalogue}/dataset/${dataset.id}` };
		await writeLayers(folder, linksOf(dataset), (lang) => titleIn(lang, dataset), metadata);
	}
	// A catalogue may send fewer rows than it was asked for.
	start += result.results.length || result.count;
	count = result.count;
}
