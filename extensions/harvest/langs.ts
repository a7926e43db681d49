import {
	isVersion2,
	namedLayers,
	type Registration,
	serviceTypeOf,
	takesAllLayers,
} from "../../registry/registration.ts";
import { type Lang, langs } from "../../registry/smallkey.ts";

/**
 * Languages with a feature layer, named OGC layers, a whole service, or an ArcGIS service without a
 * registered name.
 */
export function harvestedLangs(registration: Registration): Lang[] {
	return langs.filter((lang) => {
		const type = serviceTypeOf(registration, lang);
		if (type === "esriFeature" || namedLayers(registration, lang).length > 0) return true;
		if (!isVersion2(registration)) return false;
		if (takesAllLayers(registration[lang])) return true;
		return type.startsWith("esri") && !registration[lang].service_name;
	});
}
