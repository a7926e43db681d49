/** A layer as RAMP4 (ramp4-pcar4) creates it from an item of its configuration. */
export interface Ramp4Layer {
	id: string;
	type: string;
	url: string;
	/** Names or numbers of the layers inside the service. */
	sublayers: (string | number)[];
}

const types = ["esri-feature", "esri-imagery", "esri-map-image", "esri-tile", "ogc-wms"];

/** What RAMP4 makes of items of its configuration's `layers`. @throws {Error} where it would fail */
// biome-ignore lint/suspicious/noExplicitAny: it reads whatever it gets
export function readAsRamp4(items: any[]): Ramp4Layer[] {
	return items.map(({ id, layerType, url, sublayers }) => {
		if (!types.includes(layerType)) throw new Error(`RAMP4 knows no layers of type ${layerType}`);
		const hasSublayers = layerType === "ogc-wms" || layerType === "esri-map-image";
		// It goes through them before it asks the service.
		const names = hasSublayers
			? sublayers.map((one: { id: string; index: number }) => one.id ?? one.index)
			: [];
		if (hasSublayers && names.length === 0) throw new Error("RAMP4 makes no layer of no sublayers");
		return { id, type: layerType, url, sublayers: names };
	});
}
