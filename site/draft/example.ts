import { canonicalText } from "../../registry/registration.ts";
import type { Lang } from "../../registry/smallkey.ts";

/** The text of a draft in which nothing is written yet. */
export const empty = `{
  "version": "1.0.0",
  "payload_type": "wms",
  "en": { "service_url": "", "layer": "" },
  "fr": { "service_url": "", "layer": "" }
}
`;

/** One language of the example. */
const exampleIn = (lang: Lang, service_name: string) => ({
	service_url: `https://maps.geogratis.gc.ca/wms/canvec_${lang}`,
	layer: "hydro",
	service_name,
	legend_format: "image/png",
});

/** The text of a layer that exists, to try and to change. */
export const example = canonicalText({
	version: "1.0.0",
	payload_type: "wms",
	en: exampleIn("en", "Rivers and lakes (CanVec)"),
	fr: exampleIn("fr", "Cours d’eau et lacs (CanVec)"),
});
