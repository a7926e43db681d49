import { projectExtent } from "../harvest/arcgis/extent.ts";
import type { Description, Extent } from "../registry/description.ts";
import type { Bounds } from "../registry/entries.ts";
import type { Registration } from "../registry/registration.ts";
import type { Lang } from "../registry/smallkey.ts";

/** What a service says of a layer in words, and where it lies. */
export interface Described {
	/** null where the service says none. */
	description: string | null;
	keywords: string[];
	/** In degrees; null where it is not known. */
	bounds: Bounds | null;
}

/** Well-known id of longitude and latitude (EPSG registry). */
const degrees = 4326;

/** What is known of a layer in one language; null where nothing was harvested of the registered service. */
export function describedFor(
	{ registration, description }: { registration: Registration; description: Description | null },
	lang: Lang,
): Described | null {
	const known = description?.[lang];
	if (known?.service_url !== registration[lang].service_url) return null;
	const extent = "extent" in known ? known.extent : null;
	return { description: null, keywords: [], bounds: extent && boundsOf(extent) };
}

/** An extent in degrees; null where its spatial reference is not known. */
export function boundsOf({ wkid, ...sides }: Extent): Bounds | null {
	const found = projectExtent({ ...sides, spatialReference: { wkid } }, degrees);
	if (!found) return null;
	const { xmin, ymin, xmax, ymax } = found;
	const west = Math.max(xmin, -180);
	const east = Math.min(xmax, 180);
	const south = Math.max(ymin, -90);
	const north = Math.min(ymax, 90);
	return west <= east && south <= north ? [west, south, east, north] : null;
}
