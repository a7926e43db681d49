// From the WMS and ArcGIS resources of a CKAN catalogue to a folder for `npx fragment-publisher register` (docs/publish.md).
// node docs/recipes/ckan.mjs https://open.canada.ca/data 'organization:nrcan-rncan' my-layers nrcan-
// The interface: https://docs.ckan.org/en/2.11/api/ (package_search). Languages as in open.canada.ca's schema:
// https://github.com/open-data/ckanext-canada
import { ask } from "./catalogue.mjs";
import { runRecipe } from "./folder.mjs";
import { langsOf, textsOf } from "./texts.mjs";

const wms = /^\s*(?:ogc[ :]?)?wms\s*$/i;
const arcgis = /^\s*(?:esri rest|(?:esri )?(?:map|feature|image) ?server|arcgis geoservices rest api)\s*$/i;

const codes = { en: /^en(?:g|[-_]ca)?$/i, fr: /^fr(?:[ae]|[-_]ca)?$/i };
const translations = { en: "en-t-fr", fr: "fr-t-en" };

/** The title in a language, otherwise its machine translation, otherwise any title. */
function titleIn(lang, { title, title_translated }) {
	const texts = { ...textsOf(title), ...textsOf(title_translated) };
	const code = Object.keys(texts).find((key) => codes[lang].test(key));
	return texts[code] || texts[translations[lang]] || texts.default || Object.values(texts)[0];
}

function linksOf({ resources }, prefix) {
	const services = (resources ?? []).filter(({ format }) => wms.test(format) || arcgis.test(format));
	return services.map(({ id, format, language, url, wms_layer }) => ({
		label: prefix + id,
		smallkeyOf: () => prefix + id,
		isWms: wms.test(format),
		langs: langsOf(language),
		url: () => url,
		// In the resources of GeoServer and data.gov.au.
		name: () => wms_layer,
	}));
}

/** All data sets that match. @throws a sentence if they change while they are read, since one may be missing */
async function search(catalogue, filter) {
	const datasets = new Map();
	let [start, total] = [0, null];
	do {
		const query = new URLSearchParams({ fq: filter, sort: "id asc", start, rows: 100 });
		const { result } = await ask(`${catalogue}/api/3/action/package_search?${query}`);
		const { count, results } = result ?? {};
		if (!Array.isArray(results)) throw new Error(`${catalogue}: does not answer as CKAN`);
		for (const dataset of results) datasets.set(dataset.id, dataset);
		// A catalogue may send fewer rows than it was asked for.
		start += results.length;
		const isWhole = datasets.size >= count || (results.length > 0 && start < count);
		if (!isWhole || count !== (total ?? count))
			throw new Error(`${catalogue}: sent ${datasets.size} data sets of ${count}; run this again`);
		total = count;
	} while (start < total);
	return [...datasets.values()];
}

await runRecipe(search, (dataset, prefix, catalogue) => ({
	links: linksOf(dataset, prefix),
	titleIn: (lang) => titleIn(lang, dataset),
	metadata: { catalogue_url: `${catalogue}/dataset/${dataset.id}` },
}));
